"""Runs on the command line: `evalsi run`, `runs`, `init` and `schema`, and the reader of their specs."""
