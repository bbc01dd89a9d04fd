"""The keys of a model in a spec: those of every connector, and those that one alone knows.

It must not know how a call is made.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from evalsi_kernel.checking.toml_tables import FilledLine, Misfit, Table, problems_of

from .fallback_keys import MOST_TRIES, FallbackOptions, with_inherited
from .responses_options import ResponsesOptions
from .template import TemplateText
from .timed import AsDuration, InSeconds, Timed

OF_ANTHROPIC, OF_OPENAI = "anthropic", "openai-compatible"
RESPONSES = "responses"
# The keys that say which API is spoken; the Responses API has keys of its own.
_API = "api"


def _thinking(value: Any) -> Any:
    """`adaptive` means `{mode: adaptive}`."""
    return {"mode": value} if isinstance(value, str) else value


class Thinking(Table):
    """How a model thinks before it answers."""

    mode: Literal["adaptive", "enabled", "disabled"] = Field(description="as the provider has it")
    budget_tokens: int | None = Field(
        default=None, ge=1024, description="the most that thinking may take; for enabled, and below max_tokens"
    )

    @model_validator(mode="after")
    def _has_a_budget_where_it_needs_one(self) -> Self:
        if self.mode == "enabled" and self.budget_tokens is None:
            raise Misfit("is enabled without budget_tokens", "Say how many, or write adaptive.")
        if self.mode != "enabled" and self.budget_tokens is not None:
            raise Misfit(f"has budget_tokens, which {self.mode} thinking does not take", "Leave it out.")
        return self


class ModelOptions(Timed):
    """A model behind a connector."""

    connector_name: ClassVar[str] = ""

    model: FilledLine = Field(description="the provider's name of the model")
    base_url: FilledLine | None = Field(default=None, description="where the provider answers; else its public address")
    api_key_env: FilledLine | None = Field(default=None, description='the variable that holds the key; "none" for none')
    system_prompt: str | None = Field(default=None, description="what the model is told first")
    prompt: TemplateText | None = Field(
        default=None, description="the question, with {{input}} or {{metadata.key}} in it; else the record's input"
    )
    max_tokens: int = Field(default=16_000, ge=1, description="the most that a reply may take, reasoning included")
    temperature: float | None = Field(default=None, ge=0, description="of sampling; else the provider's own")
    seed: int | None = Field(default=None, description="of sampling; trial t of a record takes seed + t - 1")
    effort: FilledLine | None = Field(default=None, description="how hard to think, in the provider's words")
    timeout_s: InSeconds = 120.0
    timeout: AsDuration = None
    fallbacks: list[FallbackOptions] = Field(
        default_factory=list,
        description="models that answer in its place, in turn, where its calls fail for a time",
    )
    fallback_after: int = Field(
        default=3, ge=1, le=3, description="tries of a call that fail before the next model is asked"
    )

    @model_validator(mode="after")
    def _each_fallback_fits(self) -> Self:
        for number, fallback in enumerate(self.fallbacks):
            connector, options = with_inherited(fallback.model_dump(exclude_unset=True), self.connector_name, self._set)
            found = problems_of(options_of(connector), options, "")
            if found:
                first = found[0]
                at = f"fallbacks[{number}]" + (f".{first.at}" if first.at else "")
                raise Misfit(f"has a misfit: {at} {first.what}", first.hint)
        if self.fallback_after * len(self.fallbacks) >= MOST_TRIES:
            raise Misfit(
                f"has {len(self.fallbacks)} fallbacks, of which not all would be asked: a call is tried "
                f"{MOST_TRIES} times, {self.fallback_after} of them of each model",
                "Lower fallback_after, or name fewer.",
            )
        return self

    @property
    def _set(self) -> dict[str, Any]:
        return self.model_dump(exclude_unset=True)


class AnthropicOptions(ModelOptions):
    """A model of Anthropic, or of a server that speaks its API."""

    connector_name: ClassVar[str] = OF_ANTHROPIC

    thinking: Annotated[
        Thinking | None,
        BeforeValidator(_thinking, json_schema_input_type=Thinking | Literal["adaptive", "disabled"] | None),
    ] = Field(
        default=None,
        description="how it thinks first: mode enabled takes budget_tokens, adaptive and disabled can stand alone",
    )
    stream: bool = Field(default=False, description="have answers come in pieces, which long ones need")

    @model_validator(mode="after")
    def _thinks_within_its_tokens(self) -> Self:
        budget = None if self.thinking is None else self.thinking.budget_tokens
        if budget is not None and budget >= self.max_tokens:
            raise Misfit(
                f"may think for {budget:,} tokens, which is not below max_tokens ({self.max_tokens:,})",
                "Raise max_tokens.",
            )
        return self


class OpenAIOptions(ModelOptions):
    """A model of a server that speaks OpenAI's API."""

    connector_name: ClassVar[str] = OF_OPENAI

    api: Literal["chat-completions", "responses"] = Field(
        default="chat-completions", description="which of OpenAI's APIs is asked; responses is the target of that name"
    )
    stream: bool = Field(default=False, description="have answers come in pieces, which long ones need")

    @model_validator(mode="before")
    @classmethod
    def _thinking_is_another_s(cls, values: Any) -> Any:
        if isinstance(values, dict) and values.get("thinking") is not None:
            raise Misfit("has thinking, which is a key of anthropic", "Say how hard to think with effort.")
        return values

    @model_validator(mode="after")
    def _fits_its_api(self) -> Self:
        if self.api == RESPONSES and (found := problems_of(ResponsesOptions, self.for_responses(), "")):
            first = found[0]
            raise Misfit(f"asks for api: responses, and {first.at} {first.what}", first.hint)
        return self

    def for_responses(self) -> dict[str, Any]:
        """The keys as the target `responses` takes them."""
        left_out = {_API, "fallbacks", "fallback_after"}
        return {name: value for name, value in self._set.items() if name not in left_out}


def options_of(connector: str) -> type[ModelOptions]:
    """The keys of a model behind this connector."""
    known: dict[str, type[ModelOptions]] = {OF_ANTHROPIC: AnthropicOptions, OF_OPENAI: OpenAIOptions}
    return known.get(connector, ModelOptions)
