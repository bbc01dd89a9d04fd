"""Results files as tables for SQL, and metrics by slices of the data, for Evals.si."""
