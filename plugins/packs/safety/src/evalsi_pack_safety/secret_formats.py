"""The formats of tokens and keys that their makers documented: what they begin with, and what must follow.

One row a format. Lengths are bounded, so that a row costs no more than its own length.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from evalsi_pack_safety.token_checksums import bech_32, crc_in_base_62, crc_in_hex


class Format(NamedTuple):
    """One format.

    Args:
        kind: whose it is.
        mark: the text by which it is found.
        written: the pattern of the whole of it.
        before: how many characters of it may stand before its mark.
        holds: its checksum, where it has one.
    """

    kind: str
    mark: str
    written: str
    before: int = 0
    holds: Callable[[str], bool] | None = None

    @property
    def pattern(self) -> re.Pattern[str]:
        """The pattern, compiled when its mark is first found: few are in a run."""
        return _compiled(self.written)


@cache
def _compiled(written: str) -> re.Pattern[str]:
    return re.compile(written)


_WORD = r"[0-9A-Za-z]"
_URL_SAFE = r"[0-9A-Za-z_-]"
_HEX = r"[0-9a-f]"


def _rows(
    kind: str,
    marks: str,
    rest: str,
    *,
    before: str = "",
    most_before: int = 0,
    holds: Callable[[str], bool] | None = None,
) -> list[Format]:
    """A row for each of some marks, parted by blanks."""
    end = r"(?![0-9A-Za-z_-])" if rest.count(_URL_SAFE) else r"(?![0-9A-Za-z_])"
    return [
        Format(kind, mark, f"(?<![0-9A-Za-z_]){before}{re.escape(mark)}{rest}{end}", most_before, holds)
        for mark in marks.split()
    ]


FORMATS: tuple[Format, ...] = (
    # Clouds.
    *_rows("aws-access-key", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}"),
    *_rows("google-api-key", "AIza", _URL_SAFE + "{35}"),
    *_rows("google-oauth", "GOCSPX-", _URL_SAFE + "{28}"),
    *_rows("google-oauth", "ya29.", _URL_SAFE + "{30,500}"),
    *_rows("azure-key", "AccountKey=", r"[0-9A-Za-z+/]{86}=="),
    *_rows("azure-key", "SharedAccessKey=", r"[0-9A-Za-z+/]{43}="),
    *_rows("azure-client-secret", "Q~", r"[0-9A-Za-z_.~-]{31,34}", before=r"[0-9A-Za-z_.~-]{3}[0-9]", most_before=4),
    *_rows("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", _HEX + "{64}"),
    *_rows("alibaba-key", "LTAI", _WORD + "{20}"),
    *_rows("tencent-key", "AKID", _WORD + "{32}"),
    *_rows("heroku-token", "HRKU-AA", _URL_SAFE + "{58}"),
    *_rows("databricks-token", "dapi", _HEX + r"{32}(?:-[0-9])?"),
    # Code and packages.
    *_rows("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", _WORD + "{36}", holds=crc_in_base_62),
    *_rows("github-token", "github_pat_", _WORD + "{22}_" + _WORD + "{59}"),
    *_rows(
        "gitlab-token",
        "glpat- gldt- glrt- glptt- glft- glimt- glagent- gloas- glcbt- glffct- glsoat-",
        _URL_SAFE + r"{20,300}(?:\.[0-9a-z]{2}\.?[0-9a-z]{7,9})?",
    ),
    *_rows("npm-token", "npm_", _WORD + "{36}", holds=crc_in_base_62),
    *_rows("pypi-token", "pypi-AgEIcHlwaS5vcmc pypi-AgENdGVzdC5weXBpLm9yZ", _URL_SAFE + "{50,1000}"),
    *_rows("rubygems-token", "rubygems_", _HEX + "{48}"),
    *_rows("docker-token", "dckr_pat_ dckr_oat_", _URL_SAFE + "{27,40}"),
    *_rows("postman-token", "PMAK-", _HEX + "{24}-" + _HEX + "{34}"),
    *_rows("atlassian-token", "ATATT3 ATCTT3", r"[0-9A-Za-z_=-]{100,250}"),
    *_rows("terraform-token", ".atlasv1.", _URL_SAFE + "{60,70}", before=_WORD + "{14}", most_before=14),
    *_rows("pulumi-token", "pul-", _HEX + "{40}"),
    *_rows("sonar-token", "squ_ sqp_ sqa_", _HEX + "{40}"),
    *_rows("artifactory-key", "AKCp", _WORD + "{69}"),
    *_rows("buildkite-token", "bkua_", _HEX + "{40}"),
    # Models.
    *_rows("openai-key", "T3BlbkFJ", _WORD + "{20}", before=r"sk-" + _WORD + "{20}", most_before=23),
    *_rows("openai-key", "sk-proj- sk-svcacct- sk-admin-", _URL_SAFE + "{20,120}T3BlbkFJ" + _URL_SAFE + "{20,120}"),
    *_rows("openai-key", "sk-None-", _URL_SAFE + "{20,120}T3BlbkFJ" + _URL_SAFE + "{20,120}"),
    *_rows("anthropic-key", "sk-ant-", r"(?:api|admin|oat|ort|sid)[0-9]{2}-" + _URL_SAFE + "{80,120}"),
    *_rows("openrouter-key", "sk-or-v1-", _HEX + "{64}"),
    *_rows("huggingface-token", "hf_ api_org_", _WORD + "{34}"),
    *_rows("groq-key", "gsk_", _WORD + "{52}"),
    *_rows("xai-key", "xai-", _WORD + "{80}"),
    *_rows("replicate-token", "r8_", _WORD + "{37}"),
    *_rows("perplexity-key", "pplx-", _WORD + "{48}"),
    *_rows("nvidia-key", "nvapi-", _URL_SAFE + "{64}"),
    *_rows("langsmith-key", "lsv2_pt_ lsv2_sk_", _HEX + "{32}_" + _HEX + "{10}"),
    # Payments and shops.
    *_rows("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_", _WORD + "{24,247}"),
    *_rows("stripe-key", "whsec_", r"[0-9A-Za-z+/]{32,64}=?"),
    *_rows("square-token", "sq0atp-", _URL_SAFE + "{22}"),
    *_rows("square-token", "sq0csp-", _URL_SAFE + "{43}"),
    *_rows("easypost-key", "EZAK EZTK", _WORD + "{54}"),
    *_rows("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"[0-9A-Fa-f]{32}"),
    # Messages.
    *_rows("slack-token", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxc- xoxe-", r"(?:[0-9]{9,13}-){1,3}" + _WORD + "{20,64}"),
    *_rows("slack-token", "xoxe-1- xoxe.xoxp-1- xoxe.xoxb-1-", _WORD + "{100,250}"),
    *_rows("slack-token", "xapp-", r"[0-9]-[A-Z0-9]{9,13}-[0-9]{10,14}-" + _HEX + "{64}"),
    *_rows("slack-webhook", "hooks.slack.com/services/", r"T[A-Z0-9]{8,12}/B[A-Z0-9]{8,12}/" + _WORD + "{24}"),
    *_rows("discord-webhook", "discord.com/api/webhooks/", r"[0-9]{17,20}/" + _URL_SAFE + "{60,80}"),
    *_rows("telegram-token", ":AA", _URL_SAFE + "{33}", before=r"[0-9]{8,10}", most_before=10),
    *_rows("sendgrid-key", "SG.", _URL_SAFE + r"{22}\." + _URL_SAFE + "{43}"),
    *_rows("brevo-key", "xkeysib-", _HEX + "{64}-" + _WORD + "{16}"),
    *_rows("mailgun-key", "key-", _HEX + "{32}", before="(?<!-)"),  # cache-key-… is the key of a cache.
    *_rows("mailchimp-key", "-us", r"[0-9]{1,2}", before=_HEX + "{32}", most_before=32),
    *_rows("twilio-key", "SK", _HEX + "{32}"),
    # Work and watch.
    *_rows("grafana-token", "glsa_", _WORD + "{32}_" + _HEX + "{8}", holds=crc_in_hex),
    *_rows("newrelic-key", "NRAK-", r"[A-Z0-9]{27}"),
    *_rows("sentry-token", "sntryu_", _HEX + "{64}"),
    *_rows("sentry-token", "sntrys_eyJ", r"[0-9A-Za-z+/=_-]{80,500}"),
    *_rows("dynatrace-token", "dt0c01.", r"[A-Z2-7]{24}\.[A-Z2-7]{64}"),
    *_rows("linear-key", "lin_api_", _WORD + "{40}"),
    *_rows("notion-token", "ntn_", _WORD + "{46}"),
    *_rows("notion-token", "secret_", _WORD + "{43}"),
    *_rows("airtable-token", "pat", _WORD + r"{14}\." + _HEX + "{64}"),
    *_rows("figma-token", "figd_", _URL_SAFE + "{38,44}"),
    *_rows("doppler-token", "dp.pt. dp.st. dp.ct.", r"(?:[a-z0-9_-]{2,35}\.)?" + _WORD + "{40,44}"),
    *_rows("supabase-key", "sbp_", _HEX + "{40}"),
    *_rows("supabase-key", "sb_secret_", _URL_SAFE + "{31}"),
    *_rows("planetscale-token", "pscale_tkn_ pscale_pw_", r"[0-9A-Za-z_.=-]{32,64}"),
    *_rows("tailscale-key", "tskey-auth- tskey-api-", _WORD + "{8,20}-" + _WORD + "{20,40}"),
    # Keepers of secrets.
    *_rows("vault-token", "hvs. hvb.", _URL_SAFE + "{90,300}"),
    *_rows("onepassword-token", "ops_eyJ", r"[0-9A-Za-z+/=_-]{250,2000}"),
    *_rows("age-key", "AGE-SECRET-KEY-1", r"[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}", holds=bech_32),
)  # fmt: skip
