"""Has questions to a judge answered in batches at half the price, for Evals.si (--judge-batch)."""
