"""The keys of a model that answers in another's place, and what it takes over from the one that it stands in for.

It must not know how either is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import ConfigDict, Field, model_validator

from evalsi_kernel.checking.toml_tables import FilledLine, Misfit, Table

MOST_TRIES: Final = 7
"""How often a run tries a call that fails for another reason than a limit."""
# What is asked is the same whoever answers; a key goes to the address that it was given for, and nowhere else.
_TIMES: Final = frozenset({"timeout_s", "timeout"})
_ASKED: Final = frozenset({"system_prompt", "prompt", "max_tokens", "temperature", *_TIMES})
_OWN: Final = frozenset({"model", "fallbacks", "fallback_after"})


class FallbackOptions(Table):
    """A model that answers in another's place; it has the keys of its connector, and what is left out is as there."""

    model_config = ConfigDict(strict=True, extra="allow")

    model: FilledLine = Field(description="the provider's name of the model")
    connector: FilledLine | None = Field(default=None, description="that of the target, unless another is named")

    @model_validator(mode="before")
    @classmethod
    def _stands_alone(cls, values: Any) -> Any:
        nested = sorted(_OWN & values.keys() - {"model"}) if isinstance(values, dict) else []
        if nested:
            raise Misfit(f"has {nested[0]} of its own", "Put all of them in the target's own list, in their order.")
        return values


def with_inherited(
    fallback: Mapping[str, Any], connector: str, target: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """The connector of a fallback, and its keys with those that it takes over.

    Args:
        fallback: the keys that it has of its own, `connector` perhaps among them.
        connector: of the target.
        target: the keys that the target has of its own.
    """
    named = fallback.get("connector") or connector
    own = {name: value for name, value in fallback.items() if name != "connector"}
    inherited = target.keys() - _OWN if named == connector else target.keys() & _ASKED
    if "base_url" in own and own["base_url"] != target.get("base_url"):
        inherited -= {"api_key_env"}
    if _TIMES & own.keys():
        inherited -= _TIMES
    return named, {**{name: target[name] for name in target if name in inherited}, **own}
