"""A code that fences texts is made of them and stands in none of them."""

from hypothesis import given
from hypothesis import strategies as st

from evalsi_pack_safety.fencing import fence_code

TEXTS = st.lists(st.text(), max_size=4)


@given(TEXTS)
def test_no_text_holds_the_code_and_equal_texts_have_equal_codes(texts: list[str]) -> None:
    code = fence_code(texts)
    assert len(code) == 16
    assert all(code not in text.casefold() for text in texts)
    assert fence_code(list(texts)) == code


@given(TEXTS)
def test_a_text_that_guesses_the_code_changes_it(texts: list[str]) -> None:
    guessed = fence_code(texts)
    assert fence_code([*texts, guessed.upper()]) != guessed


def test_texts_are_told_apart_by_where_they_end() -> None:
    assert fence_code(["ab", "c"]) != fence_code(["a", "bc"]) != fence_code(["abc"])
    assert fence_code(["\ud800"]) != fence_code([])
