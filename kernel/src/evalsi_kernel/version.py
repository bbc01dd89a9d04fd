"""The version of Evals.si, which all its distributions share; tests/architecture compares them."""

VERSION = "0.4.0"
