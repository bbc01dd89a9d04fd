"""Bootstrap intervals for Evals.si, on numpy."""
