"""Compares what an evaluator says with what people say, for Evals.si."""
