"""A model or an agent behind OpenAI's Responses API as the target of a run: one request a record, its steps kept.

It must not know who serves it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from evalsi_kernel.broker.ask import Ask
from evalsi_kernel.broker.connector import ProviderError
from evalsi_kernel.broker.prices import input_tokens_bound
from evalsi_kernel.errors import ConfigError
from evalsi_kernel.files.dotenv import variable
from evalsi_kernel.target import Bounds, Generated, TargetInput, TargetSettings

from .http_faults import Keys
from .http_options import HttpOptions
from .http_service import HttpService, Reply
from .model_messages import messages_of, single_brace_warnings
from .quoting import excerpt, on_one_line
from .response_answer import response_answer
from .response_stream import response_of_stream
from .responses_options import HOME, ResponsesOptions
from .server_events import EVENTS
from .spec_secrets import check_name

_USUAL_KEY, _NO_KEY = "OPENAI_API_KEY", "none"


class Responses(HttpService):
    """The target.

    Raises:
        ConfigError: `config.no_key`; the variable of the key is not set, or cannot be sent.
    """

    keys = Keys(
        "spec.target.base_url",
        "spec.target.base_url, which ends before /responses",
        "spec.target.api_key_env",
        "the keys of spec.target",
        "Check spec.target.base_url, which ends before /responses.",
    )
    provider = "openai-compatible"

    def __init__(self, settings: TargetSettings) -> None:
        self._how = options = ResponsesOptions.model_validate(settings.options)
        http = HttpOptions(url=f"{options.base_url}/responses", timeout_s=options.timeout_s)
        self._open(settings, http, _authorization(options), "api_key_env")
        self.model = options.model
        self.warnings = single_brace_warnings({"prompt": options.prompt, "system_prompt": options.system_prompt})
        how = options.model_dump(exclude={"api_key_env", "timeout_s"}, exclude_none=True)
        if not options.stream:
            del how["stream"]  # As the identity of runs was before there was such a key.
        self.identity = {"connector": settings.connector, **how}

    def bounds(self, given: TargetInput) -> Bounds:
        """The prompt's bound, and the most that a reply may take; what an agent asks by itself is not in it."""
        try:
            messages = messages_of(given.record, self._how.prompt)
        except ProviderError:
            return Bounds(0, 0)  # No call is made about it.
        told = [{"role": "system", "content": self._how.system_prompt or ""}]
        return Bounds(input_tokens_bound(Ask([*told, *messages])), self._how.max_tokens)

    async def generate(self, given: TargetInput) -> Generated:
        """Make one call; a refusal, a cut reply and one of calls alone are outputs, told apart by `metadata.finish`."""
        reply = await self._reply(self._options.url, self._body_for(given.record))
        answer = self._of_stream(reply) if reply.content_type == EVENTS else self._json(reply)
        if not isinstance(answer, dict) or not isinstance(answer.get("output"), list):
            raise ProviderError(
                "provider.bad_reply",
                f"{self._whose} answered with JSON that is no response: it has no list `output`.",
                self.keys.no_json,
                retry="later",
            )
        if answer.get("status") in ("failed", "cancelled"):
            error = answer.get("error")
            why = error.get("message") if isinstance(error, dict) else None
            said = self._hide(on_one_line(str(why or "it does not say why")))
            message = f"{self._whose} answered that the response is {answer['status']}: {said}."
            raise ProviderError("provider.failed", message, "Look at the service's own log.", retry="later")
        return response_answer(answer)

    def _of_stream(self, reply: Reply) -> Any:
        """The response that a stream ends with."""
        try:
            response = response_of_stream(reply.content.decode("utf-8-sig", "replace"))
        except ValueError as cause:
            said = self._hide(excerpt(str(cause).encode()))
            message = f"{self._whose} streamed {said}, which is no event of its API."
            raise ProviderError("provider.bad_reply", message, self.keys.no_json, retry="later") from cause
        if response is None:
            message = f"{self._whose} ended its stream in the middle of the answer."
            raise ProviderError("provider.connection", message, "Try again later.", retry="later")
        return response

    def _body_for(self, record: Mapping[str, Any]) -> bytes:
        how = self._how
        body: dict[str, Any] = {
            "model": how.model,
            "input": messages_of(record, how.prompt),
            "max_output_tokens": how.max_tokens,
        }
        if how.system_prompt is not None:
            body["instructions"] = how.system_prompt
        if how.temperature is not None:
            body["temperature"] = how.temperature
        if how.effort is not None:
            body["reasoning"] = {"effort": how.effort}
        if how.stream:
            body["stream"] = True
        return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def _authorization(options: ResponsesOptions) -> dict[str, str]:
    """The header that holds the key; the usual one goes to OpenAI's own address alone."""
    name = options.api_key_env or (_USUAL_KEY if options.base_url == HOME else _NO_KEY)
    if name == _NO_KEY:
        return {}
    secret = (variable(name) or "").strip()
    if not secret:
        check_name(name, "api_key_env")
        raise ConfigError(
            f"The environment variable {name}, which is to hold the target's key, is not set.",
            f"Set it: export {name}=…; or name another with spec.target.api_key_env, or none for no key.",
            code="config.no_key",
        )
    return {"Authorization": f"Bearer {secret}"}
