"""The evalsi command."""
