"""Packs and their evaluators as described by manifests, locks and users; nothing of a pack is run."""
