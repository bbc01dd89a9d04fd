"""Conditions in CEL for Evals.si: one language, and the two engines that evaluate it."""
