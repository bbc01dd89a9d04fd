"""Benchmarks: each figure a ratio of two commands in one run on the same data. `python -m benchmarks --help`."""
