"""What models cost: the table that files of prices make, and the cost of a call by it, known or unknown.

It must not know where the files come from, nor who reads them (an extension does) or who pays.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evalsi_kernel.broker.ask import Ask, Tokens
from evalsi_kernel.broker.by_content import once_by_content

ANY_END = "*"
_PER_MILLION = 1_000_000
# The marks of a message's role and ends, and what a provider adds of its own to a prompt that asks for structure.
_MESSAGE_TOKENS = 16
_PROMPT_TOKENS = 512


class Price(NamedTuple):
    """USD per million tokens: of the prompt, the reply, and the parts of the prompt that touch the provider's cache.

    `above` holds what a whole call costs instead whose prompt has more tokens than a number, the smallest number first.
    """

    input: float
    output: float
    cache_read: float
    cache_write: float
    above: tuple[tuple[int, Price], ...] = ()

    def possible(self, input_tokens: int) -> list[Price]:
        """The prices that a call with at most so many tokens in its prompt can have, that of the most of them last."""
        return [self, *(price for tokens, price in self.above if input_tokens > tokens)]


class PriceFile(NamedTuple):
    """What a file says.

    Args:
        prices: name of a model → price.
        version: as the file says it; one that says none is known by its content.
        as_of: the day when the prices were right, such as "2026-11-03"; None where it is not said.
    """

    prices: Mapping[str, Price]
    version: str
    as_of: str | None


class PriceTable:
    """Prices by provider and model.

    Args:
        prices: name → price. A name is "provider/model", or "model" of any provider; one that ends in `*` stands for
            all that begin so.
        version: what tells this table from another; it goes into results.
        as_of: the day when the oldest of the prices was right; None where no file says it.
    """

    def __init__(self, prices: Mapping[str, Price], version: str = "", as_of: str | None = None) -> None:
        self.version = version
        self.as_of = as_of
        self._prices = dict(prices)
        self._found: dict[tuple[str, str], Price | None] = {}

    @classmethod
    def load(cls, paths: Sequence[Path], read: Callable[[Path], PriceFile]) -> PriceTable:
        """The table of some files; of one name the last file's price counts.

        Raises:
            ConfigError: a file cannot be read, or something in it does not fit; the message names the lines.
        """
        files = [read(path) for path in dict.fromkeys(paths)]
        prices: dict[str, Price] = {}
        for file in files:
            prices |= file.prices
        days = [file.as_of for file in files if file.as_of is not None]
        return cls(prices, " + ".join(file.version for file in files), min(days, default=None))

    def price(self, provider: str, model: str) -> Price | None:
        """The price of a model; None is unknown.

        Of several names that fit, the one with the most of the model's name in it counts; then one without `*`, then
        one with the provider.
        """
        key = (provider, model)
        if key not in self._found:
            fits = [(fit, name) for name in self._prices if (fit := _fit(name, provider, model)) is not None]
            self._found[key] = self._prices[max(fits)[1]] if fits else None
        return self._found[key]

    def cost_usd(self, provider: str, model: str, tokens: Tokens) -> float | None:
        """What a call cost; None where the price, the prompt or the reply is unknown, never 0 for that.

        Parts that the provider read from or wrote to its cache are parts of the prompt, and cost their own price
        instead of the prompt's. A provider that says nothing of a cache is taken to have used none. Counts that
        contradict one another (`miscount`) are each paid for as they stand: the rest of the prompt is then nothing, and
        never less.

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
        """The most that a call of so many tokens can cost; None where the price is unknown."""
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
    """What contradicts itself in a provider's counts, as a sentence; None where nothing does."""
    if any(count is not None and count < 0 for count in tokens):
        return f"A count is below zero: {tokens}."
    cached = (tokens.cache_read or 0) + (tokens.cache_write or 0)
    if tokens.input is not None and cached > tokens.input:
        return f"{cached} tokens are counted as cached, and the whole prompt as {tokens.input}."
    if tokens.output is not None and (tokens.reasoning or 0) > tokens.output:
        return f"{tokens.reasoning} tokens are counted as reasoning, and the whole reply as {tokens.output}."
    return None


def input_tokens_bound(ask: Ask) -> int:
    """More tokens than the prompt can take.

    No tokenizer in use makes more tokens than a text has bytes in UTF-8: the one bound that needs no tokenizer. For
    English it is about four times what is used, for Chinese two or three; beside the room for a reply that a
    reservation holds anyway, that is little. Roles, ends of messages, and what a provider adds are allowed for.
    """
    size_bytes = sum(_size_bytes(message.get("content", "")) for message in ask.messages)
    if ask.schema is not None:
        size_bytes += _schema_bytes(ask.schema)
    return size_bytes + _MESSAGE_TOKENS * len(ask.messages) + _PROMPT_TOKENS


def text_tokens_bound(texts: Sequence[str]) -> int:
    """More tokens than some texts can take that are embedded; see `input_tokens_bound`."""
    return sum(map(_size_bytes, texts)) + _MESSAGE_TOKENS * len(texts)


@once_by_content
def _schema_bytes(schema: Mapping[str, Any]) -> int:
    return _size_bytes(json.dumps(schema, ensure_ascii=False))


def _size_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _fit(name: str, provider: str, model: str) -> tuple[int, bool, bool] | None:
    """How well a name fits a model, the greater the better; None where it does not."""
    is_exact = not name.endswith(ANY_END)
    begin = name if is_exact else name.removesuffix(ANY_END)
    for whole, own in ((f"{provider}/{model}", len(provider) + 1), (model, 0)):
        if (whole == begin) if is_exact else (whole.startswith(begin) and len(begin) >= own):
            return len(begin) - own, is_exact, own > 0
    return None
