"""Flags and environment variables for a run's models and their limits: `--judge-…` and `--embed-…`.

API keys are never read here, only the names of their variables.
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
"""Flags that require a model."""
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
"""Flag → environment variable with its default."""


def add_model_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    add = parser.add_argument_group("models").add_argument
    add("--judge-model", metavar="MODEL", help="judge model; there is no default, to avoid unexpected costs")
    add("--judge-provider", metavar="NAME", help=f"{PROVIDER} (default) or anthropic")
    add("--judge-base-url", metavar="URL", help="base URL of the provider, such as http://localhost:8000/v1")
    add("--judge-api-key-env", metavar="NAME", help="environment variable with the API key; none for no key")
    add("--judge-effort", metavar="LEVEL", help="reasoning effort, passed to the provider unchanged")
    add("--judge-max-tokens", type=int, metavar="N", help="maximum tokens of a reply (16000)")
    add("--judge-temperature", type=float, metavar="T", help="sampling temperature (the provider's default)")
    add("--judge-timeout", type=float, metavar="S", help="timeout of one request, in seconds (120)")
    add(
        "--judge-max-wait",
        type=float,
        metavar="S",
        help="timeout of one call with all retries and waits, in seconds (300)",
    )
    add(
        "--judge-max-in-flight",
        type=int,
        metavar="N",
        help="maximum concurrent calls, and records in progress; lowered on rejections (256)",
    )
    add("--judge-batch", action="store_true", help="use the batch API: half the price, answers may take hours")
    add("--judge-budget-usd", type=float, metavar="USD", help="cost limit of all calls together, in US dollars")
    add("--judge-budget-tokens", type=int, metavar="N", help="token limit of all calls together")
    add("--judge-prices", type=Path, metavar="FILE", help="price file (TOML); overrides the built-in prices")
    add("--embed-model", metavar="MODEL", help="embedding model")
    add("--embed-provider", metavar="NAME", help=f"{PROVIDER} (default)")
    add("--embed-base-url", metavar="URL", help="base URL of the provider of embeddings")
    add("--embed-api-key-env", metavar="NAME", help="environment variable with the API key; none for no key")
    add("--no-cache", action="store_true", help="neither read replies from the cache nor add any")
    add("--dry-run", action="store_true", help="make no calls; estimate their number and maximum cost")


def models_of(options: argparse.Namespace) -> BrokerSettings | None:
    """Return the models given by flags and variables; None if there are none.

    Raises:
        UsageError: a setting is given without a model, or a number is out of range.
    """
    roles = {role: model for role in (PRIMARY, EMBED) if (model := _model(options, role)) is not None}
    for flag in (
        *("judge_max_tokens", "judge_timeout", "judge_max_wait", "judge_max_in_flight"),
        *("judge_budget_usd", "judge_budget_tokens"),
    ):
        value = getattr(options, flag)
        if value is not None and not 0 < value < float("inf"):
            raise UsageError(f"{_flag(flag)} is {value:g}; it must be greater than 0.", "Use a number above 0.")
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
    """Return the estimate of a dry run as text."""
    calls = "1 call" if preview.calls == 1 else f"{preview.calls:,} calls"
    cost = "of unknown price" if preview.max_usd is None else f"{shown_usd(preview.max_usd)} at most"
    text = f"{calls} would be made, {preview.cached:,} answered by the cache; {preview.max_tokens:,} tokens and {cost}."
    return f"{text}\nRetries, and questions that depend on an earlier reply, are not included."


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
                f"{_flag(f'{kind}_{named[0]}')} needs a model, and none is given.",
                f"Name one with {_flag(f'{kind}_model')}; there is no default.",
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
    """Return the value of a flag, else of its environment variable."""
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
        raise UsageError(f"{variable} is {text!r}, which is not a number.", "Correct it, or unset it.") from None


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
