"""The error for a setting that a model does not take: it names the flag, and nothing is ever left out in silence.

It must not know an API; each names its settings in its own words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from evalsi_kernel.broker.ask import Ask
from evalsi_kernel.broker.connector import ProviderError

from .failure import failure
from .refusal import Refusal
from .who import Who

# A seed has no flag: it is an evaluator that asks for one.
_FLAGS: Final = {"temperature": "--judge-temperature", "effort": "--judge-effort"}


def refused_setting(ask: Ask, refusal: Refusal, who: Who, names: Sequence[tuple[str, str]]) -> ProviderError | None:
    """The error where a refusal is about a setting of the ask; None where it is about something else.

    Args:
        ask: what was asked.
        refusal: what the provider says.
        who: that was called.
        names: the API's name of each setting, and its field in an `Ask`.
    """
    for theirs, ours in names:
        value = getattr(ask, ours)
        if value is not None and refusal.is_unsupported and refusal.names(theirs):
            said = who.quoted(refusal.message).rstrip(".")
            return unsupported_setting(who, theirs, ours, value, f'{who} says "{said}"')
    return None


def unsupported_setting(who: Who, theirs: str, ours: str, value: object, why: str) -> ProviderError:
    """The error for a setting, with the reason in words."""
    flag = _FLAGS.get(ours)
    named = f" ({flag})" if flag else ""
    hint = f"Leave out {flag or f'the {ours}, which an evaluator asks for'}, or name another model."
    return failure("provider.unsupported", f"{who.model} does not take {theirs} {value}{named}: {why}.", hint)
