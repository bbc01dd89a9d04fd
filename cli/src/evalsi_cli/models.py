"""The flags and variables that name a run's models and bound what they cost: `--judge-…` and `--embed-…`.

It must not know a provider, nor read a key: keys are only named.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalsi_kernel.broker.settings import EMBED, PRIMARY, BrokerSettings, ModelSettings
from evalsi_kernel.broker.usd import shown_usd
from evalsi_kernel.errors import UsageError

if TYPE_CHECKING:
    from evalsi_kernel.broker.preview import Preview

PROVIDER = "openai-compatible"
ABOUT_CALLS = (
    *("judge_timeout", "judge_max_wait", "judge_max_in_flight", "judge_budget_usd", "judge_budget_tokens"),
    *("judge_prices", "judge_batch", "dry_run"),
)
"""Flags that mean nothing without a model."""
VARIABLES = {
    "judge_model": "EVALSI_JUDGE_MODEL",
    "judge_provider": "EVALSI_JUDGE_PROVIDER",
    "judge_base_url": "EVALSI_JUDGE_BASE_URL",
    "judge_api_key_env": "EVALSI_JUDGE_API_KEY_ENV",
    "judge_effort": "EVALSI_JUDGE_EFFORT",
    "judge_max_tokens": "EVALSI_JUDGE_MAX_TOKENS",
    "judge_temperature": "EVALSI_JUDGE_TEMPERATURE",
    "embed_model": "EVALSI_EMBED_MODEL",
    "embed_provider": "EVALSI_EMBED_PROVIDER",
    "embed_base_url": "EVALSI_EMBED_BASE_URL",
    "embed_api_key_env": "EVALSI_EMBED_API_KEY_ENV",
}
"""What stands in for a flag that is not given."""


def add_model_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    add = parser.add_argument_group("models").add_argument
    add("--judge-model", metavar="MODEL", help="the model that judges; there is no default, so nothing is billed")
    add("--judge-provider", metavar="NAME", help=f"{PROVIDER} (default) or anthropic")
    add("--judge-base-url", metavar="URL", help="where the provider answers, such as http://localhost:8000/v1")
    add("--judge-api-key-env", metavar="NAME", help="the environment variable that holds the key; none for no key")
    add("--judge-effort", metavar="LEVEL", help="how hard the judge thinks, in the provider's words")
    add("--judge-max-tokens", type=int, metavar="N", help="the most that a reply may take (16000)")
    add("--judge-temperature", type=float, metavar="T", help="of sampling; the provider's own by default")
    add("--judge-timeout", type=float, metavar="S", help="how many seconds one call may take (120)")
    add(
        "--judge-max-wait",
        type=float,
        metavar="S",
        help="how many seconds one call may take with all its tries and the waits that the provider asks for (300)",
    )
    add(
        "--judge-max-in-flight",
        type=int,
        metavar="N",
        help="calls at once at most, and records; fewer where asked for (256)",
    )
    add("--judge-batch", action="store_true", help="ask in batches: half the price, and hours until they are answered")
    add("--judge-budget-usd", type=float, metavar="USD", help="what all calls together may cost")
    add("--judge-budget-tokens", type=int, metavar="N", help="what all calls together may take")
    add("--judge-prices", type=Path, metavar="FILE", help="prices (TOML) that go before those that come along")
    add("--embed-model", metavar="MODEL", help="the model that makes embeddings")
    add("--embed-provider", metavar="NAME", help=f"{PROVIDER} (default)")
    add("--embed-base-url", metavar="URL", help="where it answers")
    add("--embed-api-key-env", metavar="NAME", help="the environment variable that holds the key; none for no key")
    add("--no-cache", action="store_true", help="ask anew, and keep no reply")
    add("--dry-run", action="store_true", help="make no call; say how many there would be, and what they could cost")


def models_of(options: argparse.Namespace) -> BrokerSettings | None:
    """The models that flags and variables name; None where they name none.

    Raises:
        UsageError: a judge is described and not named, or a number is out of its range.
    """
    roles = {role: model for role in (PRIMARY, EMBED) if (model := _model(options, role)) is not None}
    for flag in (
        *("judge_max_tokens", "judge_timeout", "judge_max_wait", "judge_max_in_flight"),
        *("judge_budget_usd", "judge_budget_tokens"),
    ):
        value = getattr(options, flag)
        if value is not None and not 0 < value < float("inf"):
            raise UsageError(f"{_flag(flag)} is {value:g}; it must be more than 0.", "Use a number above 0.")
    if options.judge_batch and PRIMARY not in roles:
        raise UsageError("--judge-batch needs a judge, and none is given.", "Name one with --judge-model.")
    if not roles:
        for name in ABOUT_CALLS:
            if getattr(options, name):
                what = f"{_flag(name)} applies to model calls, and no model is given."
                raise UsageError(what, "Name one with --judge-model.")
        return None
    return BrokerSettings(
        roles,
        not options.no_cache,
        options.judge_budget_tokens,
        options.judge_budget_usd,
        options.judge_prices,
        options.dry_run,
        options.judge_batch,
    )


def preview_text(preview: Preview) -> str:
    """What a dry run foresees, for a person."""
    calls = "1 call" if preview.calls == 1 else f"{preview.calls:,} calls"
    cost = "of unknown price" if preview.max_usd is None else f"{shown_usd(preview.max_usd)} at most"
    text = f"{calls} would be made, {preview.cached:,} answered by the cache; {preview.max_tokens:,} tokens and {cost}."
    return f"{text}\nReplies that must be asked for again, and questions that follow from a reply, come on top."


def _model(options: argparse.Namespace, role: str) -> ModelSettings | None:
    kind = "embed" if role == EMBED else "judge"
    given: dict[str, Any] = {
        name: value
        for name in ("provider", "base_url", "api_key_env", "effort", "max_tokens", "temperature")
        if (value := _given(options, kind, name)) is not None
    }
    model = _given(options, kind, "model")
    if model is None:
        named = [name for name in given if getattr(options, f"{kind}_{name}", None) is not None]
        if named:
            raise UsageError(
                f"{_flag(f'{kind}_{named[0]}')} describes a model that is not named.",
                f"Name it with {_flag(f'{kind}_model')}; there is no default.",
            )
        return None
    settings = ModelSettings(str(model), **given)
    if options.judge_timeout is not None:
        settings = settings._replace(timeout_s=options.judge_timeout)
    if options.judge_max_wait is not None:
        settings = settings._replace(max_wait_s=options.judge_max_wait)
    if options.judge_max_in_flight is not None:
        settings = settings._replace(max_in_flight=options.judge_max_in_flight)
    return settings


def _given(options: argparse.Namespace, kind: str, name: str) -> str | int | float | None:
    """What the flag says, else the variable of the same name."""
    value: str | int | float | None = getattr(options, f"{kind}_{name}", None)
    if value is not None:
        return value
    variable = VARIABLES.get(f"{kind}_{name}")
    text = os.environ.get(variable, "").strip() if variable else ""
    if not text:
        return None
    if name not in ("max_tokens", "temperature"):
        return text
    try:
        return int(text) if name == "max_tokens" else float(text)
    except ValueError:
        raise UsageError(f"{variable} is {text!r}, which is no number.", "Correct it, or unset it.") from None


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
