"""The keys of a model or an agent that speaks OpenAI's Responses API in a spec.

It must not know how a call is made.
"""

from __future__ import annotations

from pydantic import Field, field_validator

from evalsi_kernel.checking.toml_tables import FilledLine, Misfit

from .http_options import check_address
from .template import TemplateText
from .timed import AsDuration, InSeconds, Timed

HOME = "https://api.openai.com/v1"


class ResponsesOptions(Timed):
    """A model or an agent that is asked for responses."""

    model: FilledLine = Field(description="the provider's name of the model or the agent")
    base_url: FilledLine = Field(default=HOME, description="where the provider answers; else OpenAI's public address")
    api_key_env: FilledLine | None = Field(default=None, description='the variable that holds the key; "none" for none')
    system_prompt: str | None = Field(default=None, description="what it is told first (instructions)")
    prompt: TemplateText | None = Field(
        default=None, description="the question, with {{input}} or {{metadata.key}} in it; else the record's input"
    )
    max_tokens: int = Field(default=16_000, ge=16, description="the most that a reply may take, reasoning included")
    temperature: float | None = Field(default=None, ge=0, description="of sampling; else the provider's own")
    effort: FilledLine | None = Field(default=None, description="how hard to think, in the provider's words")
    stream: bool = Field(default=False, description="have answers come in pieces, which long ones need")
    timeout_s: InSeconds = 120.0
    timeout: AsDuration = None

    @field_validator("base_url")
    @classmethod
    def _is_address(cls, base_url: str) -> str:
        if "{{" in base_url:
            raise Misfit("lets a record say where it is asked", "Write the address as it is.")
        return check_address(base_url).rstrip("/")
