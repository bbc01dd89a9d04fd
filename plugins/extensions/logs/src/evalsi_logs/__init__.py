"""Logs of other evaluation tools as data for Evals.si."""
