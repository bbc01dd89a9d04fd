"""What to do about a name that means nothing here, because it is of a pack that the project has added elsewhere.

It must not know how a project remembers its packs.
"""

from __future__ import annotations

from evalsi_kernel.errors import EvalsiError
from evalsi_kernel.extensions.asking import environment_builder
from evalsi_kernel.extensions.installed import default_extensions


def hint_of_unknown(error: EvalsiError) -> str:
    """The hint of an unknown evaluator or pack: to fetch the pack where the project names it, else the error's own."""
    name = str(error.details.get("name", ""))
    try:
        absent = environment_builder(default_extensions()).absent()
    except EvalsiError:
        # Without an extension that adds packs none was added; a lock that cannot be read is not what was asked about.
        return error.hint
    for pack, evaluators in absent.items():
        publisher, _, _ = pack.rpartition("/")
        of_it = {pack, *evaluators, *(f"{publisher}/{one}" for one in evaluators)}
        if name in of_it or name.startswith(f"{pack}/"):
            return (
                f"evalsi.lock names the pack {pack}, whose files are not here: "
                "run `evalsi plugins add --locked`, which fetches what it names."
            )
    return error.hint
