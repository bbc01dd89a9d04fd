"""Builds, lists and prunes the environments of evaluator packs, for Evals.si."""

PROJECT_LOCK = "evalsi.lock"
"""What a project says of the packs that were added to it."""
