"""A script for each adapter, run by the Python of its own environment: the framework alone, and through the adapter."""
