"""The seam to what a run asks for outputs: what a target of an extension must do, and how it fails.

It must not know a protocol, a model or a prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from evalsi_kernel.broker.ask import UNKNOWN_TOKENS, Tokens

if TYPE_CHECKING:
    from evalsi_kernel.broker.connector import Connector, ConnectorSettings
    from evalsi_kernel.records.sources import Source

NOTHING_ELSE: Mapping[str, Any] = MappingProxyType({})


class TargetSettings(NamedTuple):
    """What a spec says of its target.

    Args:
        connector: the kind of target, such as "http" or "openai-compatible".
        options: its other keys, checked against the model that `evalsi_target_options` gives.
        folder: of the spec's file; relative paths in the options start there.
        max_in_flight: calls at once.
    """

    connector: str
    options: Mapping[str, Any]
    folder: Path
    max_in_flight: int


class Lent(NamedTuple):
    """What a target may use of other extensions.

    Args:
        connector: makes the connector to a model; raises `ConfigError`.
        open_source: opens a file of rows; raises `ConfigError` and `DatasetError`.
    """

    connector: Callable[[ConnectorSettings], Connector]
    open_source: Callable[[str], Source]


class TargetInput(NamedTuple):
    """What a target is asked about.

    Args:
        record: the record as it is sent to evaluators: `id`, `input`, and what else it has; no output.
        trial: counted from 1.
    """

    record: Mapping[str, Any]
    trial: int


class Generated(NamedTuple):
    """What a target answered.

    Args:
        output: a content: text, `{"messages": […]}` or `{"json": …}`; an empty text is an output like any other.
        tokens: what it took; None where that is unknown, which is never 0.
        cost_usd: what it cost where the target itself says so; None leaves it to the table of prices.
        model: the model that answered, as it names itself.
        fields: other fields of the record that the target fills: `trajectory`, `context`, and `usage` where the answer
            was made at another time than now, which is what evaluators see; what is booked is `tokens` and `cost_usd`.
        metadata: what else is worth keeping, such as why the reply ended; it joins the record's metadata.
        fallback: which of the target's fallbacks answered, from 1; 0 where the target itself did.
        waited_s: how much of the call passed before the target had started, which is none of the call's time.
    """

    output: Any
    tokens: Tokens = UNKNOWN_TOKENS
    cost_usd: float | None = None
    model: str = ""
    fields: Mapping[str, Any] = NOTHING_ELSE
    metadata: Mapping[str, Any] = NOTHING_ELSE
    fallback: int = 0
    waited_s: float = 0.0


class Bounds(NamedTuple):
    """The most that one call can take, in tokens; None is unknown, and then no budget in tokens or USD can be held."""

    input_tokens: int | None = None
    output_tokens: int | None = None


class Target(Protocol):
    """What is evaluated. It retries nothing and keeps no pace: the run does.

    One that has others answer where it fails has `fallbacks` too: provider and model of each, as prices know them. One
    whose options are probably not meant as they are written may have `warnings`: sentences for a person.

    Attributes:
        identity: what tells this target from another, options that change its answers included; it enters results and
            decides whether a run may go on, so it holds no secret.
        model: the name under which prices know it; "" where no price applies.
        provider: the connector under which prices know it.
    """

    identity: Mapping[str, Any]
    model: str
    provider: str

    def bounds(self, given: TargetInput) -> Bounds:
        """The most that this call can take."""

    async def generate(self, given: TargetInput) -> Generated:
        """Make one call.

        Raises:
            ProviderError: it brought no output; its `retry`, `retry_after_s` and `is_final` say what to do.
        """

    async def close(self) -> None:
        """Let go of connections and processes."""


def warnings_of(target: Target) -> Sequence[str]:
    """What a person should know of a target's options before it is asked; most have nothing to say."""
    warnings: Sequence[str] = getattr(target, "warnings", ())
    return warnings


def fallbacks_of(target: Target) -> Sequence[tuple[str, str]]:
    """Provider and model of each that may answer in a target's place; most have none."""
    fallbacks: Sequence[tuple[str, str]] = getattr(target, "fallbacks", ())
    return fallbacks
