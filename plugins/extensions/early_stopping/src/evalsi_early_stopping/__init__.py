"""Early stopping for Evals.si: gates decided by a part of the records, at a stated rate of errors."""
