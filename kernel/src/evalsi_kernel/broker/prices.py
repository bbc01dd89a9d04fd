"""Price table of models, built from price files, and the cost of calls."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evalsi_kernel.broker.ask import Ask, Tokens
from evalsi_kernel.broker.by_content import once_by_content

ANY_END = "*"
_PER_MILLION = 1_000_000
# Allowances for role markers of a message, and for what a provider adds to a prompt to get structured output.
_MESSAGE_TOKENS = 16
_PROMPT_TOKENS = 512


class Price(NamedTuple):
    """Price of a model in USD per million tokens.

    Args:
        input: price of the prompt.
        output: price of the reply.
        cache_read: price of the prompt's tokens read from the provider's cache.
        cache_write: price of the prompt's tokens written to the provider's cache.
        above: (tokens, price) pairs, ascending; a call whose prompt has more tokens costs that price as a whole.
    """

    input: float
    output: float
    cache_read: float
    cache_write: float
    above: tuple[tuple[int, Price], ...] = ()

    def possible(self, input_tokens: int) -> list[Price]:
        """Return the prices that apply to prompts of up to this many tokens; the last is that of the longest."""
        return [self, *(price for tokens, price in self.above if input_tokens > tokens)]


class PriceFile(NamedTuple):
    """The content of a price file.

    Args:
        prices: model name → price.
        version: the version named in the file; a hash of its content where it names none.
        as_of: the date of the prices, such as "2026-11-03"; None where the file has none.
    """

    prices: Mapping[str, Price]
    version: str
    as_of: str | None


class PriceTable:
    """Prices by provider and model.

    Args:
        prices: name → price. A name is "provider/model", or "model" for any provider; one that ends in `*` matches
            every name with that prefix.
        version: identifies the table in results.
        as_of: date of the oldest file; None where no file has a date.
    """

    def __init__(self, prices: Mapping[str, Price], version: str = "", as_of: str | None = None) -> None:
        self.version = version
        self.as_of = as_of
        self._prices = dict(prices)
        self._found: dict[tuple[str, str], Price | None] = {}

    @classmethod
    def load(cls, paths: Sequence[Path], read: Callable[[Path], PriceFile]) -> PriceTable:
        """Merge price files; the last file overrides the others.

        Raises:
            ConfigError: a file cannot be read or is invalid; the message names the lines.
        """
        files = [read(path) for path in dict.fromkeys(paths)]
        prices: dict[str, Price] = {}
        for file in files:
            prices |= file.prices
        days = [file.as_of for file in files if file.as_of is not None]
        return cls(prices, " + ".join(file.version for file in files), min(days, default=None))

    def price(self, provider: str, model: str) -> Price | None:
        """Return the price of a model; None means unknown.

        Where several names match, the one with the longest match of the model's name wins, then one without `*`, then
        one with the provider.
        """
        key = (provider, model)
        if key not in self._found:
            fits = [(fit, name) for name in self._prices if (fit := _fit(name, provider, model)) is not None]
            self._found[key] = self._prices[max(fits)[1]] if fits else None
        return self._found[key]

    def cost_usd(self, provider: str, model: str, tokens: Tokens) -> float | None:
        """Return the cost of a call; None, never 0, where the price, the prompt or the reply is unknown.

        Tokens read from or written to the provider's cache are part of the prompt and have their own price. A provider
        that reports no cache usage is assumed to have used none. Contradictory counts (see `miscount`) are priced as
        they are; the uncached rest of the prompt is then 0.

        Source: OpenTelemetry's semantic conventions for generative AI, `gen_ai.usage.*`.
        """
        price = self.price(provider, model)
        if price is None or tokens.input is None or tokens.output is None or min(tokens.input, tokens.output) < 0:
            return None
        price = price.possible(tokens.input)[-1]
        read, written = max(0, tokens.cache_read or 0), max(0, tokens.cache_write or 0)
        plain = max(0, tokens.input - read - written)
        parts = (
            plain * price.input,
            read * price.cache_read,
            written * price.cache_write,
            tokens.output * price.output,
        )
        return sum(parts) / _PER_MILLION

    def worst_case_usd(self, provider: str, model: str, input_tokens: int, max_tokens: int) -> float | None:
        """Return the maximum cost of a call of up to this many tokens; None where the price is unknown."""
        price = self.price(provider, model)
        if price is None:
            return None
        return (
            max(
                input_tokens * max(one.input, one.cache_read, one.cache_write) + max_tokens * one.output
                for one in price.possible(input_tokens)
            )
            / _PER_MILLION
        )


def miscount(tokens: Tokens) -> str | None:
    """Return a sentence about contradictory counts of a provider; None where there are none."""
    if any(count is not None and count < 0 for count in tokens):
        return f"A count is below zero: {tokens}."
    cached = (tokens.cache_read or 0) + (tokens.cache_write or 0)
    if tokens.input is not None and cached > tokens.input:
        return f"{cached} tokens are counted as cached, and the whole prompt as {tokens.input}."
    if tokens.output is not None and (tokens.reasoning or 0) > tokens.output:
        return f"{tokens.reasoning} tokens are counted as reasoning, and the whole reply as {tokens.output}."
    return None


def input_tokens_bound(ask: Ask) -> int:
    """Return an upper bound of the prompt's tokens.

    Tokenizers in use never produce more tokens than a text has UTF-8 bytes, so this bound needs no tokenizer. It is
    about four times the usage for English and two to three times for Chinese, which is small compared to the room
    reserved for the reply. Role markers and additions of the provider are allowed for.
    """
    size_bytes = sum(_size_bytes(message.get("content", "")) for message in ask.messages)
    if ask.schema is not None:
        size_bytes += _schema_bytes(ask.schema)
    return size_bytes + _MESSAGE_TOKENS * len(ask.messages) + _PROMPT_TOKENS


def text_tokens_bound(texts: Sequence[str]) -> int:
    """Return an upper bound of the tokens of texts to embed; see `input_tokens_bound`."""
    return sum(map(_size_bytes, texts)) + _MESSAGE_TOKENS * len(texts)


@once_by_content
def _schema_bytes(schema: Mapping[str, Any]) -> int:
    return _size_bytes(json.dumps(schema, ensure_ascii=False))


def _size_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _fit(name: str, provider: str, model: str) -> tuple[int, bool, bool] | None:
    """Return how well a name matches a model, greater is better; None where it does not."""
    is_exact = not name.endswith(ANY_END)
    begin = name if is_exact else name.removesuffix(ANY_END)
    for whole, own in ((f"{provider}/{model}", len(provider) + 1), (model, 0)):
        if (whole == begin) if is_exact else (whole.startswith(begin) and len(begin) >= own):
            return len(begin) - own, is_exact, own > 0
    return None
