"""Packs and their evaluators as manifests, locks and users name them; nothing of a pack is run."""
