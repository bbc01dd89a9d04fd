"""Writes reports of results files, for Evals.si (evalsi report)."""
