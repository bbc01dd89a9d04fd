"""Builds, lists and prunes the environments of evaluator packs, for Evals.si."""
