"""Validation of user input: problems with their places, suggestions, schemas and TOML tables."""
