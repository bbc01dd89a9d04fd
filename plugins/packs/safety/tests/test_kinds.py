"""Where each kind of personal data begins and ends, and what decides where two readings are possible."""

from __future__ import annotations

import pytest

from evalsi_pack_safety.cards import cards
from evalsi_pack_safety.emails import emails
from evalsi_pack_safety.findings import Detector
from evalsi_pack_safety.ibans import ibans
from evalsi_pack_safety.ip_addresses import ip_addresses
from evalsi_pack_safety.phones import phones
from evalsi_pack_safety.us_ssn import us_ssns


def found(detector: Detector, text: str, label: str = "") -> list[str]:
    return [text[one.start : one.end] for one in detector(text, label)]


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("Mail jane@example.com.Then wait.", ["jane@example.com"]),
        ("...jane.@example.com", []),
        ("a@b.co,c@d.co;e@f.co", ["a@b.co", "c@d.co", "e@f.co"]),
        ("<jane@example.com>", ["jane@example.com"]),
        ("'jane@example.com'", ["jane@example.com"]),
        ("x" * 64 + "@example.com", ["x" * 64 + "@example.com"]),
        ("x" * 65 + "@example.com", []),
        ("jane@" + "a" * 64 + ".com", []),
        ("jane@-example.com", []),
        ("jane@example.notatld", []),
        ("jane@example..com", []),
        ("@@", []),
    ],
)
def test_an_address_ends_where_its_grammar_ends(text: str, addresses: list[str]) -> None:
    assert found(emails, text) == addresses


@pytest.mark.parametrize("name", ["example.com", "mail.example.org", "x.example", "x.test", "x.invalid"])
def test_names_that_are_set_aside_count_as_planted_data_has_them(name: str) -> None:
    assert found(emails, f"jane@{name}") == [f"jane@{name}"]


@pytest.mark.parametrize("name", ["localhost", "x.localhost", "x.local", "x.internal", "192.0.2.1"])
def test_names_that_no_mail_leaves_do_not_count(name: str) -> None:
    assert found(emails, f"jane@{name}") == []


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Call 212-555-0142 2 times", ["212-555-0142"]),
        ("2125550142", []),
        ("tel 2125550142", ["2125550142"]),
        ("order 212-555-0142", []),
        ("tel. for order 212-555-0142", []),
        ("+44 20 7946 0958 2024", ["+44 20 7946 0958"]),
        ("+999 12345678", []),
        ("+1 212 55", []),
        ("tel 123456789", []),
        ("tel 0000000000", []),
        ("+44 7700 900123", ["+44 7700 900123"]),
        ("06.12.34.56.78", ["06.12.34.56.78"]),
        ("06.12.2024", []),
        ("212-555-0142x33", ["212-555-0142"]),
        ("001-212-555-0142x33", ["001-212-555-0142"]),
        ("+1-212-555-0142X5", ["+1-212-555-0142"]),
        ("212-555-0142xyz", []),
        ("8 (495) 123-45-67", ["8 (495) 123-45-67"]),
        ("0151 23456789 or 0151/23456789", ["0151 23456789", "0151/23456789"]),
        ("(03) 9374 4000", ["(03) 9374 4000"]),
        ("you can reach me at 2125550142", ["2125550142"]),
    ],
)
def test_a_number_without_a_country_needs_a_look_or_a_word(text: str, numbers: list[str]) -> None:
    assert found(phones, text) == numbers


def test_the_key_of_a_field_is_such_a_word() -> None:
    assert found(phones, "2125550142", "phone") == found(phones, "2125550142", "homePhone") == ["2125550142"]
    assert found(phones, "2125550142", "invoice_id") == []
    assert found(us_ssns, "536228726", "ssn") == ["536228726"]
    assert found(us_ssns, "536228726", "total") == []


@pytest.mark.parametrize(
    "number", ["4111111111111112", "7111111111111111", "411111111111111", "41111111111111111", "4444444444444444"]
)
def test_a_card_needs_its_check_digit_an_issuer_and_a_length(number: str) -> None:
    assert found(cards, number) == []
    assert found(cards, "4111111111111111") == ["4111111111111111"]


def test_groups_of_a_card_are_parted_by_one_mark() -> None:
    assert found(cards, "4111-1111 1111-1111") == []
    assert found(cards, "4111 11 11 11 11 11 11") == []
    assert found(cards, "3782-822463-10005") == ["3782-822463-10005"]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("4242 4242 4242 4242 123", ["4242 4242 4242 4242"]),
        ("4242-4242-4242-4242-123", ["4242-4242-4242-4242"]),
        ("3782 822463 10005 1234", ["3782 822463 10005"]),
        ("4000 0000 0000 0000 006", ["4000 0000 0000 0000 006"]),
        ("4242 4242 4242 4243 123", []),
        ("2019 2020 2021 2022 202", []),
    ],
)
def test_the_code_from_the_back_of_a_card_may_follow_it(text: str, numbers: list[str]) -> None:
    assert found(cards, text) == numbers


@pytest.mark.parametrize("number", ["000-12-3456", "666-12-3456", "900-12-3456", "536-00-8726", "536-22-0000"])
def test_numbers_that_are_given_to_nobody_are_none(number: str) -> None:
    assert found(us_ssns, f"SSN {number}") == []


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("203.0.113.7:8080", ["203.0.113.7"]),
        ("203.0.113.7/24", ["203.0.113.7"]),
        ("203.0.113.0/24", []),
        ("203.0.113.7/32", ["203.0.113.7"]),
        ("at 1.2.3.4", []),
        ("ip 1.2.3.4", ["1.2.3.4"]),
        ("203.0.113.007", []),
        ("203.0.113.7.example", []),
        ("from 100.64.0.9", []),
        ("2001:db8::", ["2001:db8::"]),
        ("2001:db8::7:", ["2001:db8::7"]),
        ("2001:db8:::7", []),
        ("IP:2001:db8::7, client:2001:db8::8", ["2001:db8::7", "2001:db8::8"]),
        ("dead:2001:db8::7 and :2001:db8::7", []),
        ("fc00::7, fe80::7, ff02::1", []),
    ],
)
def test_an_address_is_somebodys_or_none(text: str, addresses: list[str]) -> None:
    assert found(ip_addresses, text) == addresses


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("DE89 3704 0044 0532 0130 00 and more", ["DE89 3704 0044 0532 0130 00"]),
        ("GB00 DE89 3704 0044 0532 0130 00", ["DE89 3704 0044 0532 0130 00"]),
        ("NO9386011117947 NO9386011117947", ["NO9386011117947", "NO9386011117947"]),
        ("DE8937040044053201300", []),
        ("DE893704004405320130000", []),
        ("XDE89370400440532013000", []),
    ],
)
def test_an_iban_has_the_length_of_its_country(text: str, numbers: list[str]) -> None:
    assert found(ibans, text) == numbers
