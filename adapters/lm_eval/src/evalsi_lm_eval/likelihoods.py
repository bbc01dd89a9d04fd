"""Read log-likelihoods (`metadata.loglikelihoods`), choices (`metadata.choices`) and the correct choice of a record.

Records without them are skipped; chat models return no log-likelihoods.
"""

from __future__ import annotations

from typing import Any

from evalsi import Record, Skip

LIKELIHOODS = "metadata.loglikelihoods"
CHOICES = "metadata.choices"

Likelihood = tuple[float, bool | None]
"""Log-likelihood of a continuation, and whether greedy decoding gives it (None if not recorded)."""


def likelihoods_of(record: Record, *, greedy: bool = False) -> list[Likelihood]:
    """Return the log-likelihoods of a record, each written as a number or as `[number, greedy]`.

    Args:
        record: record with the log-likelihoods.
        greedy: whether each must state if greedy decoding gives the continuation.

    Raises:
        Skip: there are no log-likelihoods, or one is malformed.
    """
    given = record.metadata.get("loglikelihoods")
    if given is None:
        raise Skip(f"record has no {LIKELIHOODS}; a chat model gives none, so record a model's that does")
    if not isinstance(given, list) or not given:
        raise Skip(f"{LIKELIHOODS} is not a list of numbers or of [number, greedy]")
    found = [_likelihood(one) for one in given]
    if greedy and any(is_greedy is None for _, is_greedy in found):
        raise Skip(f"{LIKELIHOODS} does not say whether greedy decoding gives it; write [number, true] or false")
    return found


def choices_of(record: Record) -> list[str]:
    """Return the choices of the record.

    Raises:
        Skip: there are no choices, or they are not texts.
    """
    choices = record.metadata.get("choices")
    if choices is None:
        raise Skip(f"record has no {CHOICES}")
    if not isinstance(choices, list) or not choices or not all(isinstance(one, str) and one for one in choices):
        raise Skip(f"{CHOICES} is not a list of texts")
    return choices


def right_choice_of(record: Record, choices: list[str]) -> int | list[int]:
    """Return the index of the correct choice, from `metadata.gold` or the reference; a list if any of several counts.

    Raises:
        Skip: there is no correct choice, or it is not one of the choices.
    """
    gold = record.metadata.get("gold")
    if gold is None:
        texts = record.reference_texts
        places = [choices.index(text) for text in texts if text in choices]
        if len(places) < len(texts):
            raise Skip(f"the reference is none of the {len(choices)} choices")
        return places[0] if len(places) == 1 else places
    every = gold if isinstance(gold, list) else [gold]
    if not every or not all(type(one) is int and 0 <= one < len(choices) for one in every):
        raise Skip(f"metadata.gold is {gold!r:.40}, which is no place among {len(choices)} choices")
    return gold if isinstance(gold, list) else int(gold)


def _likelihood(given: Any) -> Likelihood:
    value, greedy = given if isinstance(given, list) and len(given) == 2 else (given, None)
    if type(value) not in (int, float) or not (greedy is None or type(greedy) is bool):
        raise Skip(f"{LIKELIHOODS} holds {given!r:.40}, which is no number and no [number, greedy]")
    return float(value), greedy
