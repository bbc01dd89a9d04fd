"""The model that Inspect's scorers grade with: it asks the kernel's judge, holds no key and opens no socket.

One is made for each record, so that what it costs is booked there. It must not know a scorer.
"""

from __future__ import annotations

from typing import Any

from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelAPI, ModelOutput, modelapi

from evalsi import AskError, Context

# The kernel bounds how many records are in flight, and paces the calls; Inspect would hold all but ten back.
_CONFIG = GenerateConfig(max_connections=100_000)


@modelapi(name="evalsi")
class JudgeApi(ModelAPI):  # type: ignore[misc]
    """Answers with what the judge says.

    Attributes:
        fault: the first error of the judge.
        replies: under which results.json keeps what it said.
    """

    def __init__(self, ctx: Context) -> None:
        super().__init__("judge")
        self.fault: AskError | None = None
        self.replies: list[str] = []
        self._ctx = ctx

    async def generate(
        self, input: list[ChatMessage], tools: Any, tool_choice: Any, config: GenerateConfig
    ) -> ModelOutput:
        """Ask; the judge's own error is kept and raised."""
        try:
            reply = await self._ctx.judge([{"role": message.role, "content": message.text} for message in input])
        except AskError as error:
            self.fault = self.fault or error
            raise
        if reply.ref:
            self.replies.append(reply.ref)
        return ModelOutput.from_content("evalsi/judge", reply.text)


def model_of(api: JudgeApi) -> Model:
    """What a scorer takes as its model."""
    return Model(api, _CONFIG)
