"""Made-up secrets of every format, built when the tests run: no file of this repository holds one.

A sample is the same in every run; the checksums of those that have one hold.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import string
from zlib import crc32

from evalsi_pack_safety.token_checksums import base_62, bech_32_check

WORD = string.digits + string.ascii_letters
URL_SAFE = WORD + "_-"
FIGURES = "123456789"
HEX = "0123456789abcdef"
BASE_32 = string.ascii_uppercase + "234567"
BECH_32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
BASE_64 = WORD + "+/"


def some(alphabet: str, size: int, name: str) -> str:
    """So many characters, always the same for one name."""
    seed = int.from_bytes(hashlib.sha256(f"{name}{size}".encode()).digest()[:8], "big")
    return "".join(random.Random(seed).choices(alphabet, k=size))


def joined(mark: str, *parts: str) -> str:
    return mark.join(parts)


def with_crc(prefix: str) -> str:
    body = some(WORD, 30, prefix)
    return f"{prefix}{body}{base_62(crc32(body.encode()))}"


def base_64_url(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value, separators=(",", ":")).encode()).decode().rstrip("=")


def jwt(header: object, claims: object, name: str = "jwt", signature: int = 43) -> str:
    return f"{base_64_url(header)}.{base_64_url(claims)}.{some(URL_SAFE, signature, name)}"


def pem(title: str, line_end: str = "\n", lines: int = 4) -> str:
    body = line_end.join(some(BASE_64, 64, f"{title}{number}") for number in range(lines))
    return f"-----BEGIN {title}PRIVATE KEY-----{line_end}{body}{line_end}-----END {title}PRIVATE KEY-----"


def grafana() -> str:
    key = "glsa_" + some(WORD, 32, "grafana")
    return f"{key}_{crc32(key.encode()).to_bytes(4, 'little').hex()}"


def age() -> str:
    data = some(BECH_32, 52, "age")
    values = [BECH_32.index(character) for character in data]
    return f"age-secret-key-1{data}{bech_32_check('age-secret-key-', values)}".upper()


MANUAL = {"sub": "1234567890", "name": "John Doe", "iat": 1516239022}
ISSUED = {"sub": "user-7", "iss": "acme", "exp": 1999999999}

SAMPLES: dict[str, str] = {
    "aws-id": "AKIA" + some(BASE_32, 16, "aws"),
    "aws-session-id": "ASIA" + some(BASE_32, 16, "aws"),
    "aws-secret": some(BASE_64, 40, "aws-secret-7"),
    "google": "AIza" + some(URL_SAFE, 35, "google"),
    "google-client": "GOCSPX-" + some(URL_SAFE, 28, "google"),
    "google-access": "ya29." + some(URL_SAFE, 120, "google"),
    "azure-storage": "AccountKey=" + some(BASE_64, 86, "azure") + "==",
    "azure-bus": "SharedAccessKey=" + some(BASE_64, 43, "azure") + "=",
    "azure-client": some(WORD, 3, "azure") + "8Q~" + some(WORD, 34, "azure"),
    "digitalocean": "dop_v1_" + some(HEX, 64, "do"),
    "alibaba": "LTAI" + some(WORD, 20, "ali"),
    "databricks": "dapi" + some(HEX, 32, "dapi"),
    "github": with_crc("ghp_"),
    "github-app": with_crc("ghs_"),
    "github-oauth": with_crc("gho_"),
    "github-fine": "github_pat_" + some(WORD, 22, "fine") + "_" + some(WORD, 59, "fine"),
    "gitlab": "glpat-" + some(URL_SAFE, 20, "glpat"),
    "gitlab-runner": "glrt-" + some(URL_SAFE, 20, "glrt"),
    "gitlab-routable": "glpat-" + some(URL_SAFE, 27, "routable") + ".01." + some(string.digits + "abcxyz", 9, "crc"),
    "npm": with_crc("npm_"),
    "pypi": "pypi-AgEIcHlwaS5vcmc" + some(URL_SAFE, 150, "pypi"),
    "rubygems": "rubygems_" + some(HEX, 48, "gems"),
    "docker": "dckr_pat_" + some(URL_SAFE, 27, "docker"),
    "postman": "PMAK-" + some(HEX, 24, "pm") + "-" + some(HEX, 34, "pm"),
    "terraform": some(WORD, 14, "tf") + ".atlasv1." + some(URL_SAFE, 67, "tf"),
    "openai-old": "sk-" + some(WORD, 20, "oa") + "T3BlbkFJ" + some(WORD, 20, "ob"),
    "openai": "sk-proj-" + some(URL_SAFE, 74, "oa") + "T3BlbkFJ" + some(URL_SAFE, 74, "ob"),
    "anthropic": "sk-ant-api03-" + some(URL_SAFE, 93, "ant") + "AA",
    "openrouter": "sk-or-v1-" + some(HEX, 64, "or"),
    "huggingface": "hf_" + some(string.ascii_letters, 34, "hf"),
    "groq": "gsk_" + some(WORD, 52, "groq"),
    "xai": "xai-" + some(WORD, 80, "xai"),
    "nvidia": "nvapi-" + some(URL_SAFE, 64, "nv"),
    "langsmith": joined("_", "lsv2_pt", some(HEX, 32, "ls"), some(HEX, 10, "ls")),
    "sonar": "sqp_" + some(HEX, 40, "sonar"),
    "artifactory": "AKCp" + some(WORD, 69, "jf"),
    "brevo": "xkeysib-" + some(HEX, 64, "brevo") + "-" + some(WORD, 16, "brevo"),
    "easypost": "EZAK" + some(WORD, 54, "ez"),
    "slack-refresh": joined("-", "xoxe", "1", some(WORD, 146, "refresh")),
    "slack-rotated": joined("-", "xoxe.xoxp", "1", some(WORD, 160, "rotated")),
    "openai-none": "sk-None-" + some(WORD, 20, "on") + "T3BlbkFJ" + some(WORD, 20, "op"),
    "replicate": "r8_" + some(WORD, 37, "r8"),
    "perplexity": "pplx-" + some(WORD, 48, "pplx"),
    "stripe": "sk_live_" + some(WORD, 24, "stripe"),
    "stripe-restricted": "rk_live_" + some(WORD, 99, "stripe"),
    "stripe-hook": "whsec_" + some(WORD, 32, "stripe"),
    "square": "sq0csp-" + some(URL_SAFE, 43, "square"),
    "shopify": "shpat_" + some(HEX, 32, "shop"),
    "slack-bot": joined("-", "xoxb", some(FIGURES, 12, "a"), some(FIGURES, 13, "b"), some(WORD, 24, "slack")),
    "slack-app": joined("-", "xapp-1", "A" + some(BASE_32, 10, "slack"), some(FIGURES, 13, "c"), some(HEX, 64, "s")),
    "slack-hook": "hooks.slack.com/services/T2" + joined("/", some(BASE_32, 9, "t"), "B2SEVEN77", some(WORD, 24, "h")),
    "discord-hook": "discord.com/api/webhooks/" + some(FIGURES, 19, "d") + "/" + some(URL_SAFE, 68, "d"),
    "telegram": some(FIGURES, 10, "tg") + ":AA" + some(URL_SAFE, 33, "tg"),
    "discord-bot": joined(".", "MTE3Mzk4NTQ0NTg2Njk0NjU2", "GhT3xQ", some(URL_SAFE, 38, "bot")),
    "basic": "YW5uYTpodW50ZXIyMg==",
    "sendgrid": "SG." + some(URL_SAFE, 22, "sg") + "." + some(URL_SAFE, 43, "sg"),
    "mailgun": "key-" + some(HEX, 32, "mg"),
    "mailchimp": some(HEX, 32, "mc") + "-us12",
    "twilio": "SK" + some(HEX, 32, "tw"),
    "grafana": grafana(),
    "newrelic": "NRAK-" + some(BASE_32, 27, "nr"),
    "sentry": "sntryu_" + some(HEX, 64, "sentry"),
    "dynatrace": "dt0c01." + some(BASE_32, 24, "dt") + "." + some(BASE_32, 64, "dt"),
    "linear": "lin_api_" + some(WORD, 40, "lin"),
    "notion": "ntn_" + some(WORD, 46, "ntn"),
    "airtable": "pat" + some(WORD, 14, "air") + "." + some(HEX, 64, "air"),
    "figma": "figd_" + some(URL_SAFE, 40, "figma"),
    "doppler": "dp.pt." + some(WORD, 43, "dp"),
    "supabase": "sbp_" + some(HEX, 40, "sb"),
    "tailscale": "tskey-auth-" + some(WORD, 12, "ts") + "-" + some(WORD, 32, "ts"),
    "vault": "hvs." + some(URL_SAFE, 95, "hvs"),
    "onepassword": "ops_eyJ" + some(BASE_64, 300, "ops"),
    "age": age(),
    "jwt": jwt({"alg": "HS256", "typ": "JWT"}, ISSUED),
    "jwt-rs": jwt({"alg": "RS256", "kid": "k1"}, ISSUED, "rs", 342),
    "jwe": joined(".", jwt({"alg": "dir", "enc": "A256GCM"}, 7, "e", 16), some(WORD, 60, "c"), some(WORD, 22, "t")),
    "pem": pem(""),
    "pem-rsa": pem("RSA "),
    "pem-ssh": pem("OPENSSH "),
    "pem-ec": pem("EC ", lines=2),
    "pem-escaped": pem("", "\\n"),
    "pem-cut": pem("")[:200],
    # What looks like one and is none.
    "github-made-up": "ghp_" + some(WORD, 36, "made-up"),
    "npm-made-up": "npm_" + some(WORD, 36, "made-up"),
    "grafana-made-up": "glsa_" + some(WORD, 32, "made-up") + "_" + some(HEX, 8, "made-up"),
    "age-made-up": age()[:-1] + ("Q" if age()[-1] != "Q" else "P"),
    "no-jwt": joined(".", "eyJ" + some(URL_SAFE, 40, "no"), some(URL_SAFE, 60, "no"), some(URL_SAFE, 43, "no")),
    "jwt-without-algorithm": jwt({"typ": "JWT"}, ISSUED),
    "jwt-of-the-manual": jwt({"alg": "HS256", "typ": "JWT"}, MANUAL),
    "sha1": some(HEX, 40, "sha1"),
    "sha256": some(HEX, 64, "sha256"),
    "md5": some(HEX, 32, "md5"),
    "base64": some(BASE_64, 120, "base64"),
    "forty": some(BASE_64, 40, "forty-9"),
}  # fmt: skip


def filled(text: str) -> str:
    """The text with each ⟦name⟧ replaced by the sample of that name."""
    for name, sample in SAMPLES.items():
        text = text.replace(f"⟦{name}⟧", sample)
    assert "⟦" not in text, text
    return text
