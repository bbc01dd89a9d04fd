"""Interface of targets, which produce the outputs of a run and which extensions implement."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from evalsi_kernel.broker.ask import UNKNOWN_TOKENS, Tokens

if TYPE_CHECKING:
    from evalsi_kernel.broker.connector import Connector, ConnectorSettings
    from evalsi_kernel.records.sources import Source

NO_FIELDS: Mapping[str, Any] = MappingProxyType({})


class TargetSettings(NamedTuple):
    """The target in a spec.

    Args:
        connector: the kind of target, such as "http" or "openai-compatible".
        options: its other keys, validated with the model of `evalsi_target_options`.
        folder: folder of the spec; base of relative paths in the options.
        max_in_flight: maximum number of concurrent calls.
    """

    connector: str
    options: Mapping[str, Any]
    folder: Path
    max_in_flight: int


class TargetServices(NamedTuple):
    """Services of other extensions that a target may use.

    Args:
        connector: creates the connector to a model; raises `ConfigError`.
        open_source: opens a file of rows; raises `ConfigError` or `DatasetError`.
    """

    connector: Callable[[ConnectorSettings], Connector]
    open_source: Callable[[str], Source]


class TargetInput(NamedTuple):
    """The input of one call.

    Args:
        record: the record as sent to evaluators (`id`, `input` and other fields), without an output.
        trial: number of the trial, counted from 1.
    """

    record: Mapping[str, Any]
    trial: int


class Generated(NamedTuple):
    """The result of one call.

    Args:
        output: text, `{"messages": […]}` or `{"json": …}`; an empty text is a valid output.
        tokens: tokens used; None means unknown, never 0.
        cost_usd: cost as reported by the target; None computes it from the price table.
        model: the model that answered, as it names itself.
        fields: other record fields that the target fills: `trajectory`, `context`, and `usage` of an answer recorded
            earlier. Evaluators see `usage`; the ledger books `tokens` and `cost_usd`.
        metadata: additional values to keep, such as the finish reason; merged into the record's metadata.
        fallback: index of the fallback that answered, from 1; 0 for the target itself.
        waited_s: time before the target had started, which does not count as latency.
    """

    output: Any
    tokens: Tokens = UNKNOWN_TOKENS
    cost_usd: float | None = None
    model: str = ""
    fields: Mapping[str, Any] = NO_FIELDS
    metadata: Mapping[str, Any] = NO_FIELDS
    fallback: int = 0
    waited_s: float = 0.0


class Bounds(NamedTuple):
    """The maximum tokens of one call; None means unknown, so that a budget in tokens or USD cannot be enforced."""

    input_tokens: int | None = None
    output_tokens: int | None = None


class Target(Protocol):
    """The system under evaluation. It must neither retry nor limit its rate: the run does.

    A target with fallbacks also has `fallbacks`: the provider and model of each, as in the price table. A target may
    have `warnings`: sentences about options that are probably a mistake.

    Attributes:
        identity: what distinguishes the target from others, including options that change its answers. It is stored in
            results and decides whether a run may be resumed, so it must not hold secrets.
        model: name of the model in the price table; "" where no price applies.
        provider: name of the provider in the price table.
    """

    identity: Mapping[str, Any]
    model: str
    provider: str

    def bounds(self, given: TargetInput) -> Bounds:
        """Return the maximum tokens of this call."""

    async def generate(self, given: TargetInput) -> Generated:
        """Make one call.

        Raises:
            ProviderError: there is no output; `retry`, `retry_after_s` and `is_final` say how to continue.
        """

    async def close(self) -> None:
        """Close connections and processes."""


def warnings_of(target: Target) -> Sequence[str]:
    """Return warnings about a target's options, to show before it is called."""
    warnings: Sequence[str] = getattr(target, "warnings", ())
    return warnings


def fallbacks_of(target: Target) -> Sequence[tuple[str, str]]:
    """Return the provider and model of each fallback of a target."""
    fallbacks: Sequence[tuple[str, str]] = getattr(target, "fallbacks", ())
    return fallbacks
