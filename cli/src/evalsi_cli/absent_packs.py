"""Hints for unknown names that belong to a pack of the project which is not installed on this machine."""

from __future__ import annotations

from evalsi_kernel.errors import EvalsiError
from evalsi_kernel.extensions.hook_calls import environment_builder
from evalsi_kernel.extensions.installed import default_extensions


def hint_of_unknown(error: EvalsiError) -> str:
    """Return the hint for an unknown evaluator or pack: to install the pack if the lock names it, else the error's."""
    name = str(error.details.get("name", ""))
    try:
        absent = environment_builder(default_extensions()).absent()
    except EvalsiError:
        # No extension can add packs, or the lock cannot be read. Neither is what the user asked about.
        return error.hint
    for pack, evaluators in absent.items():
        publisher, _, _ = pack.rpartition("/")
        of_it = {pack, *evaluators, *(f"{publisher}/{one}" for one in evaluators)}
        if name in of_it or name.startswith(f"{pack}/"):
            return (
                f"The pack {pack} is in evalsi.lock but not installed: run `evalsi plugins add --locked` to install it."
            )
    return error.hint
