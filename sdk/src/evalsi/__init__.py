"""Write evaluators for Evals.si, and score records from Python."""
