"""From requested evaluators to packs that are ready to start."""
