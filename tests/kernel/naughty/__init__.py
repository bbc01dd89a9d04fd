"""Packs that misbehave."""
