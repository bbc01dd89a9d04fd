"""Secrets that are known by their structure: JSON Web Tokens, private keys, passwords in URLs."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator

from evalsi_pack_safety.findings import Finding
from evalsi_pack_safety.tokens import masked, stands_for_one

JWT = "jwt"
PRIVATE_KEY = "private-key"
URL_PASSWORD = "url-password"
BASIC_AUTH = "basic-auth"
DISCORD_TOKEN = "discord-token"
AWS_SECRET_KEY = "aws-secret-key"

_PART = r"[0-9A-Za-z_-]"
_JWT = re.compile(
    rf"(?<![0-9A-Za-z_.-])(eyJ{_PART}{{10,4000}})\.({_PART}{{2,16000}})\.({_PART}{{16,1400}})"
    rf"((?:\.{_PART}{{8,16000}}\.{_PART}{{8,64}})?)(?!{_PART})"
)
# The claims in the token that every manual shows, jwt.io's.
_MANUAL = {"sub": "1234567890", "name": "John Doe"}
_PEM = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_PEM_LONGEST = 20_000
# A key in JSON that is shown as text has its line ends as \n; in a quoted mail or in code, marks stand between lines.
_LINE_END = r"(?:\\r|\\n|[\s>|\"'+,#]){1,16}"
_PEM_BODY = re.compile(
    rf"{_LINE_END}(?:[A-Za-z-]{{1,20}}: [^\n\\]{{1,80}}{_LINE_END}){{0,4}}[0-9A-Za-z+/=]{{40}}|[0-9A-Za-z+/=]{{64}}"
)
_PUTTY = re.compile(r"PuTTY-User-Key-File-[23]: ")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}\Z")
_CREDENTIALS = re.compile(r"([^\s/@:'\"<>()]{0,64}):([^\s/@'\"<>]{3,128})@(?=[A-Za-z0-9\[])")
_SCHEME_LENGTH = 22
_NO_PASSWORD = frozenset((
    "password", "passwd", "pass", "pwd", "secret", "token", "user", "username", "changeme", "example", "your_password",
    "yourpassword", "mypassword", "xxx", "x-oauth-basic", "x-access-token", "redacted",
))  # fmt: skip
# In a URL %40 is a character, so %PASSWORD% alone is a template.
_TEMPLATE = re.compile(r"^\$|\$[{(]|%(?![0-9A-Fa-f]{2})|[{\[<]|\*{2}|x{3}|\.{3}|…", re.IGNORECASE)
_AWS_SECRET = re.compile(r"(?<![0-9A-Za-z/+])[0-9A-Za-z/+]{40}(?![0-9A-Za-z/+=])")
_AWS_NAME = re.compile(
    r"aws.{0,60}?secret|secret_?access_?key|A[KS]IA[A-Z0-9]{16}.{0,40}?secret", re.IGNORECASE | re.DOTALL
)
_BASIC = re.compile(r"\b[Bb]asic[ ]{1,4}([0-9A-Za-z+/_-]{8,400}={0,2})(?![0-9A-Za-z+/=_-])")
# The number of the bot in base64, a time, and a signature.
_DISCORD = re.compile(rf"[MNO](?<![0-9A-Za-z_.-].)({_PART}{{23,27}})\.{_PART}{{6}}\.{_PART}{{27,38}}(?!{_PART})")


def json_web_tokens(text: str, _label: str = "") -> Iterator[Finding]:
    """Signed or encrypted tokens whose header is one: JSON that names an algorithm."""
    if "eyJ" not in text:
        return
    for match in _JWT.finditer(text):
        header = _json_of(match[1])
        if not isinstance(header, dict) or not isinstance(header.get("alg"), str):
            continue
        claims = _json_of(match[2])
        if match[4] or (isinstance(claims, dict) and not _MANUAL.items() <= claims.items()):
            yield Finding(JWT, match.start(), match.end(), masked("eyJ", match[0]), (match[0],))


def private_keys(text: str, _label: str = "") -> Iterator[Finding]:
    """Private keys with what makes them keys: a header alone is none."""
    done = 0
    for match in _PEM.finditer(text) if "PRIVATE KEY" in text else ():
        if match.start() < done or not _PEM_BODY.match(text, match.end()):
            continue
        foot = text.find("-----END", match.end(), match.end() + _PEM_LONGEST)
        foot_end = text.find("-----", foot + 8, foot + 60) if foot >= 0 else -1
        done = foot_end + 5 if foot_end >= 0 else min(len(text), match.end() + 64)
        whole = text[match.start() : done]
        yield Finding(PRIVATE_KEY, match.start(), done, masked(match[0], whole), (whole,))
    if "PuTTY-User-Key-File-" in text and "Private-Lines" in text:
        for match in _PUTTY.finditer(text):
            yield Finding(PRIVATE_KEY, match.start(), match.end(), "PuTTY-User-Key-File…", (match[0],))


def url_passwords(text: str, _label: str = "") -> Iterator[Finding]:
    """Passwords in URLs: scheme://user:password@host. A word that stands for a password is none."""
    place = text.find("://")
    while place >= 0:
        scheme = _SCHEME.search(text, max(0, place - _SCHEME_LENGTH), place)
        match = _CREDENTIALS.match(text, place + 3) if scheme else None
        if scheme and match and _is_password(match[1], match[2]):
            whole = text[scheme.start() : match.end()]
            yield Finding(URL_PASSWORD, match.start(2), match.end(2), masked(f"{scheme[0]}://", match[2]), (whole,))
        place = text.find("://", place + 3)


def basic_auth(text: str, _label: str = "") -> Iterator[Finding]:
    """User and password of an Authorization header (RFC 7617): base64 of both, with a colon between them."""
    for match in _BASIC.finditer(text) if "asic" in text else ():
        user, colon, password = (_text_of(match[1]) or "").partition(":")
        if colon and len(password) > 2 and (user + password).isprintable() and _is_password(user, password):
            yield Finding(BASIC_AUTH, match.start(1), match.end(1), masked("Basic ", match[1]), (match[1],))


def discord_tokens(text: str, _label: str = "") -> Iterator[Finding]:
    """Tokens of Discord's bots."""
    for match in _DISCORD.finditer(text) if text.count(".") > 1 else ():
        number = _text_of(match[0].partition(".")[0]) or ""
        if number.isascii() and number.isdigit() and 17 <= len(number) <= 20:
            yield Finding(DISCORD_TOKEN, match.start(), match.end(), masked("", match[0]), (match[0],))


def aws_secret_keys(text: str, label: str = "") -> Iterator[Finding]:
    """Forty characters that a name before them calls an AWS secret access key."""
    named = _AWS_NAME.search(label) is not None
    if not named and "ecret" not in text and "SECRET" not in text:
        return
    for match in _AWS_SECRET.finditer(text):
        before = text[max(0, match.start() - 90) : match.start()]
        secret = match[0]
        if not (named or _AWS_NAME.search(before)) or stands_for_one(secret):
            continue
        if any(map(str.isdigit, secret)) and any(map(str.isupper, secret)) and any(map(str.islower, secret)):
            yield Finding(AWS_SECRET_KEY, match.start(), match.end(), masked("", secret), (secret,))


def is_manual_token(token: str) -> bool:
    """Return whether a token is the JSON Web Token that every manual shows."""
    match = _JWT.fullmatch(token)
    claims = _json_of(match[2]) if match else None
    return isinstance(claims, dict) and _MANUAL.items() <= claims.items()


def is_placeholder(value: str) -> bool:
    """Return whether a value stands for a password: a word such as "changeme", or a template."""
    return value.casefold() in _NO_PASSWORD or _TEMPLATE.search(value) is not None


def _is_password(user: str, password: str) -> bool:
    plain = password.casefold()
    return plain not in _NO_PASSWORD and plain != user.casefold() and _TEMPLATE.search(password) is None


def _json_of(part: str) -> object:
    text = _text_of(part)
    try:
        return None if text is None else json.loads(text)
    except (ValueError, RecursionError):
        return None


def _text_of(part: str) -> str | None:
    """What base64 of either alphabet says; None where it says nothing."""
    bare = part.rstrip("=").replace("+", "-").replace("/", "_")
    try:
        return base64.urlsafe_b64decode(bare + "=" * (-len(bare) % 4)).decode()
    except (binascii.Error, ValueError):
        return None
