"""Looks into the cache of model replies, and prunes it, for Evals.si."""
