"""Builds, lists and prunes the environments of evaluator packs, for Evals.si."""

PROJECT_LOCK = "evalsi.lock"
"""Name of the file that records the packs of a project."""
