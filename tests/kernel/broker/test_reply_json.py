"""C4: the message of a reply that is not JSON says a place once, whatever Python's own message ends in."""

import re

import pytest

from evalsi_kernel.broker.reply_json import NoJson, strict_json

BROKEN = {
    '{"a": "b': "string starting at character 7",
    '{"a": "b\n"}': "control character at character 9",
    '{"a" 1}': "delimiter at character 6",
    "[1,": "value at character 4",
    '{"a": 1,}': "at character",
    '"\\x"': "at character 2",
    "1 2": "data at character 3",
    "": "value at character 1",
}


@pytest.mark.parametrize(("reply", "place"), BROKEN.items())
def test_c4_the_place_of_a_fault_is_named_once(reply: str, place: str) -> None:
    with pytest.raises(NoJson) as caught:
        strict_json(reply)

    assert place in str(caught.value)
    assert re.search(r"\b(\w+) \1\b", str(caught.value)) is None
