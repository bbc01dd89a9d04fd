"""Keeps the replies of models from run to run, shows what is kept, and prunes it, for Evals.si."""
