"""From the evaluators that a user names to packs that can start."""
