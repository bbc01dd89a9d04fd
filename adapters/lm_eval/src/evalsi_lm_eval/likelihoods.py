"""Reads a record's log-likelihoods (`metadata.loglikelihoods`), its choices (`metadata.choices`) and the right one.

A record that lacks them is skipped; chat models give none. It must not know a metric.
"""

from __future__ import annotations

from typing import Any

from evalsi import Record, Skip

LIKELIHOODS = "metadata.loglikelihoods"
CHOICES = "metadata.choices"

Likelihood = tuple[float, bool | None]
"""The log-likelihood of a continuation, and whether greedy decoding gives it; None where that was not recorded."""


def likelihoods_of(record: Record, *, greedy: bool = False) -> list[Likelihood]:
    """The log-likelihoods of a record, each written as a number or as `[number, greedy]`.

    Args:
        record: whose they are.
        greedy: whether it must be known of each if greedy decoding gives it.

    Raises:
        Skip: there are none, or one is no such thing.
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
    """The texts between which the model chose; raises `Skip`."""
    choices = record.metadata.get("choices")
    if choices is None:
        raise Skip(f"record has no {CHOICES}")
    if not isinstance(choices, list) or not choices or not all(isinstance(one, str) and one for one in choices):
        raise Skip(f"{CHOICES} is not a list of texts")
    return choices


def right_choice_of(record: Record, choices: list[str]) -> int | list[int]:
    """The place of the right choice, from 0: `metadata.gold`, or that of the reference; several where any is right.

    Raises:
        Skip: there is none, or it is none of the choices.
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
