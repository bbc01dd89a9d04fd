"""The judge broker: every model call of a pack goes through it to a connector."""
