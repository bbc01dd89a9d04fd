"""The model with which Inspect's scorers grade. It asks the kernel's judge, so it needs no API key and no network.

One is made for each record, so that its cost is booked to that record.
"""

from __future__ import annotations

from typing import Any

from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelAPI, ModelOutput, modelapi

from evalsi import AskError, Context

# The kernel limits concurrency and call rate; Inspect's own default would allow only ten calls at once.
_CONFIG = GenerateConfig(max_connections=100_000)


@modelapi(name="evalsi")
class JudgeApi(ModelAPI):  # type: ignore[misc]
    """Model API that returns the judge's replies.

    Attributes:
        fault: first error of the judge.
        replies: ids of its replies in results.json.
    """

    def __init__(self, ctx: Context) -> None:
        super().__init__("judge")
        self.fault: AskError | None = None
        self.replies: list[str] = []
        self._ctx = ctx

    async def generate(
        self, input: list[ChatMessage], tools: Any, tool_choice: Any, config: GenerateConfig
    ) -> ModelOutput:
        """Return the judge's reply; an error of the judge is stored in `fault` and raised."""
        try:
            reply = await self._ctx.judge([{"role": message.role, "content": message.text} for message in input])
        except AskError as error:
            self.fault = self.fault or error
            raise
        if reply.ref:
            self.replies.append(reply.ref)
        return ModelOutput.from_content("evalsi/judge", reply.text)


def model_of(api: JudgeApi) -> Model:
    """Return the model that a scorer takes as an argument."""
    return Model(api, _CONFIG)
