"""One script for each of the compared tools, run by the Python of that tool's own environment; none is imported."""
