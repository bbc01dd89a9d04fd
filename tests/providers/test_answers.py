"""How a test says what the model answers."""

import pytest

from tests.providers import Answer, Provider, Request, fixed, in_order, matching
from tests.providers.calling import chat, message, text_of


def test_a_fixed_reply_is_said_to_every_request() -> None:
    with Provider(fixed("four")) as provider:
        assert [text_of(chat(provider)), text_of(message(provider))] == ["four", "four"]


def test_replies_come_in_order_and_then_the_last_word() -> None:
    with Provider(in_order("one", {"two": 2}, then="more")) as provider:
        assert [text_of(chat(provider)) for _ in range(4)] == ["one", '{"two": 2}', "more", "more"]


def test_one_request_more_than_planned_fails_the_test() -> None:
    with (
        pytest.raises(AssertionError, match="1 replies were planned, and request 2 asks for one more"),
        Provider(in_order("one")) as provider,
    ):
        assert [chat(provider).status for _ in range(2)] == [200, 500]


def test_the_first_part_that_the_prompt_holds_tells_the_reply() -> None:
    def loud(request: Request) -> str:
        return request.last_text.upper()

    with Provider(matching({"Paris": "right", "France": loud}, otherwise="wrong")) as provider:
        prompts = ["Paris in France", "France", "Rome"]
        assert [text_of(chat(provider, prompt)) for prompt in prompts] == ["right", "FRANCE", "wrong"]


def test_a_function_sees_the_request_in_either_form_alike() -> None:
    def answer(request: Request) -> Answer:
        return Answer(f"{request.api} {request.model} {request.max_tokens} {request.prompt!r}")

    blocks = [{"role": "user", "content": [{"type": "text", "text": "hello"}]}]
    with Provider(answer) as provider:
        asked = chat(provider, max_completion_tokens=500), message(provider, max_tokens=600, messages=blocks)
    assert text_of(asked[0]) == "openai my-judge 500 'hello'"
    assert text_of(asked[1]) == "anthropic my-judge 600 'hello'"


def test_a_function_that_fails_gives_500_and_fails_the_test_when_the_context_is_left() -> None:
    def broken(request: Request) -> str:
        raise KeyError(request.model)

    with pytest.raises(KeyError, match="my-judge"), Provider(broken) as provider:
        assert chat(provider).status == 500


def test_a_failure_of_the_test_itself_is_not_hidden_by_one_of_its_function() -> None:
    def broken(request: Request) -> str:
        raise KeyError(request.model)

    with pytest.raises(ZeroDivisionError), Provider(broken) as provider:
        _ = chat(provider).status / 0
