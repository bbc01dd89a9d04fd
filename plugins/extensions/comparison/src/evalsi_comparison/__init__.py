"""Says whether the difference between two runs is real, for Evals.si."""
