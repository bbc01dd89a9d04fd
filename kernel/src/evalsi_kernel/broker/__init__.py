"""The judge broker: every model call of every pack goes through here, and from here to a connector."""
