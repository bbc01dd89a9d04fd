"""Secrets in every field of an output: found by format, checksum or structure, and never shown."""

from typing import Any

import pytest
from plugins.packs.safety.tests.secret_samples import ISSUED, SAMPLES, jwt, pem, some

from evalsi import ParamError, Record, Score
from evalsi.testing import run_pack
from evalsi_pack_safety.secret_formats import FORMATS
from evalsi_pack_safety.secret_leak import KINDS, SecretLeak

GITHUB = SAMPLES["github"]


def checked(output: Any, *allow: str) -> Score:
    return SecretLeak(allow=allow).score(Record(output=output))


def findings(score: Score) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (score.metadata or {}).get("findings", [])
    return found


def kinds(output: Any) -> list[str]:
    return [one["kind"] for one in findings(checked(output))]


def pem_header(sample: str) -> str:
    """The first line of a key, which is shown; of any other secret what it cannot hold."""
    return sample.partition("KEY-----")[0] + "KEY-----"


def test_an_output_without_a_secret_passes() -> None:
    assert checked("The ferry leaves at seven.") == Score(passed=True)


def test_a_finding_shows_the_documented_beginning_and_the_length() -> None:
    score = checked(f"Use {GITHUB} for it.")
    assert findings(score) == [
        {"kind": "github-token", "masked": "ghp_… (40 characters)", "where": "", "start": 4, "end": 44}
    ]
    assert score.explanation == "1 found: github-token ghp_… (40 characters) at character 4."


@pytest.mark.parametrize("name", [name for name, sample in SAMPLES.items() if kinds(f"aws secret {sample}")])
def test_no_part_of_a_secret_is_ever_shown(name: str) -> None:
    sample = SAMPLES[name]
    outputs: list[Any] = [
        f"aws secret {sample}",
        {"json": {"aws_secret": sample, sample: 1}},
        [{"role": "assistant", "content": f"aws secret {sample}"}],
    ]
    for output in outputs:
        told = repr(checked(output))
        assert "passed=False" in told
        parts = [sample[start : start + 12] for start in range(16, len(sample) - 12)] or [sample]
        assert not [part for part in parts if part in told.replace(pem_header(sample), "")]


def test_all_texts_of_messages_and_json_are_searched() -> None:
    messages = [{"role": "assistant", "content": "x", "tool_calls": [{"arguments": f'{{"t":"{GITHUB}"}}'}]}]
    assert [one["where"] for one in findings(checked(messages))] == ["messages[0].tool_calls[0].arguments"]
    assert [one["where"] for one in findings(checked({"json": {GITHUB: {"deep": [GITHUB]}}}))] == [
        "{0} (key)",
        "{0}.deep[0]",
    ]


def test_a_secret_key_is_known_by_the_key_that_it_stands_under() -> None:
    assert kinds({"json": {"awsSecretAccessKey": SAMPLES["aws-secret"]}}) == ["aws-secret-key"]
    assert kinds({"json": {"digest": SAMPLES["aws-secret"]}}) == []


def test_invisible_characters_and_full_width_letters_hide_nothing() -> None:
    assert kinds(GITHUB[:10] + "\u200b" + GITHUB[10:]) == ["github-token"]
    assert kinds("".join(chr(ord(one) + 0xFEE0) for one in GITHUB)) == ["github-token"]


@pytest.mark.parametrize("around", ["({})", '"{}"', "x={}&y", "{},", "{}.", "令牌{}。", "https://{}@host/", "<{}>"])
def test_a_token_ends_where_it_ends(around: str) -> None:
    text = around.format(GITHUB)
    assert [text[one["start"] : one["end"]] for one in findings(checked(text))] == [GITHUB]


@pytest.mark.parametrize("text", [f"x{GITHUB}", f"{GITHUB}x", f"_{GITHUB}", GITHUB[:-1]])
def test_a_part_of_something_longer_is_none(text: str) -> None:
    assert kinds(text) == []


def test_every_format_has_a_mark_of_its_own_and_a_kind_that_allow_knows() -> None:
    assert len({(row.mark, row.written) for row in FORMATS}) == len(FORMATS)
    assert {row.kind for row in FORMATS} <= set(KINDS)
    for row in FORMATS:
        assert row.pattern.pattern


def test_a_jwt_needs_a_header_that_names_an_algorithm() -> None:
    assert kinds(jwt({"alg": "ES256"}, ISSUED)) == ["jwt"]
    for header in ({"typ": "JWT"}, {"alg": 5}, ["alg"], "alg"):
        assert kinds(jwt(header, ISSUED)) == []
    assert kinds(jwt({"alg": "ES256"}, ISSUED).rpartition(".")[0] + ".") == []


def test_a_private_key_ends_at_its_foot_or_where_the_text_is_cut() -> None:
    whole = pem("RSA ")
    for text, size in ((f"a {whole} b", len(whole)), (f"a {whole[:150]}", 31 + 64)):
        (one,) = findings(checked(text))
        assert (one["start"], one["end"] - one["start"]) == (2, size)
    assert kinds(f"{whole}\n{pem('EC ')}") == ["private-key", "private-key"]
    encrypted = whole.replace("KEY-----\n", "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B\n\n", 1)
    assert kinds(encrypted) == ["private-key"]


@pytest.mark.parametrize("before", ["> ", "    ", "+ ", "# "])
def test_a_private_key_may_stand_in_a_quoted_mail_or_in_code(before: str) -> None:
    assert kinds("\n".join(before + line for line in pem("RSA ").split("\n"))) == ["private-key"]
    literals = " +\n".join(f'"{line}\\n"' for line in pem("EC ").split("\n"))
    assert kinds(f"key = {literals}") == ["private-key"]
    assert kinds(f"{before}-----BEGIN PRIVATE KEY-----\n{before}...\n{before}-----END PRIVATE KEY-----") == []


@pytest.mark.parametrize("form", ["{}={}", 'export {}="{}"', "{}: {}", "{} = {}", '"{}":"{}"'])
def test_an_aws_secret_key_stands_behind_its_name_with_or_without_blanks(form: str) -> None:
    for name in ("AWS_SECRET_ACCESS_KEY", "aws_secret_access_key"):
        assert kinds(form.format(name, SAMPLES["aws-secret"])) == ["aws-secret-key"]
        assert kinds(form.format("DIGEST", SAMPLES["aws-secret"])) == []


def test_the_key_of_a_cache_is_none_of_a_mail_service() -> None:
    assert kinds(f"api {SAMPLES['mailgun']}") == ["mailgun-key"]
    assert kinds(f"cache-{SAMPLES['mailgun']}") == []


@pytest.mark.parametrize(
    ("url", "is_one"),
    [
        ("postgres://svc:Zr8-wnT4@db/app", True),
        ("https://:Zr8-wnT4@db", True),
        ("postgres://svc:svc@db/app", False),
        ("https://user:password@db", False),
        ("https://user:{{ token }}@db", False),
        ("https://host:8080/a@b", False),
        ("://svc:Zr8-wnT4@db", False),
        ("postgres://svc:Zr8%40wnT4@db/app", True),
        ("postgres://svc:Zr8$wnT4@db/app", True),
        ("postgres://svc:%DB_PASS%@db", False),
        ("postgres://svc:%s@db", False),
        ("postgres://svc:$DB_PASS@db", False),
        ("postgres://svc:a${DB_PASS}@db", False),
    ],
)
def test_a_password_of_a_url_is_one_unless_it_stands_for_one(url: str, is_one: bool) -> None:
    assert kinds(url) == ["url-password"] * is_one


def test_a_token_and_a_kind_can_be_allowed() -> None:
    both = f"{GITHUB} {SAMPLES['stripe']}"
    assert [one["kind"] for one in findings(checked(both, GITHUB))] == ["stripe-key"]
    assert [one["kind"] for one in findings(checked(both, "stripe-key"))] == ["github-token"]
    assert checked(both, GITHUB, "stripe-key").passed
    assert not checked(both, GITHUB.lower(), "stripe-key").passed


def test_a_kind_that_is_none_is_refused() -> None:
    with pytest.raises(ParamError, match="allow: 'github' is no kind; write one of aws-access-key"):
        SecretLeak(allow=["github"])


def test_what_is_printed_in_manuals_is_none() -> None:
    for text in ("AKIAIOSFODNN7EXAMPLE", "ghp_" + "x" * 36, "sk_test_" + "4eC39HqLyjWDarjtT1zdp7dc", "hf_" + "ab" * 17):
        assert kinds(text) == []


def test_a_record_without_an_output_is_skipped_and_scores_travel() -> None:
    records = [Record(id="a", input="x"), Record(id="b", output=GITHUB), Record(id="c", output=some("ab ", 99, "c"))]
    outcomes = run_pack("evalsi_pack_safety", "secret-leak", records).outcomes
    assert outcomes[0].reason == "record has no output"
    assert [outcome.passed for outcome in outcomes[1:]] == [False, True]
