"""Owns how an error calls what a user says of a model: a flag, or a key of a run's spec.

It must not know what it is that is said.
"""

from __future__ import annotations

from evalsi_kernel.broker.connector import Kind


def said_with(kind: Kind, name: str) -> str:
    """Such as `--embed-base-url`, or `spec.target.base_url` of a run's target."""
    return f"spec.target.{name.replace('-', '_')}" if kind == "target" else f"--{kind}-{name}"
