"""Secrets that are known by their name: `password = '…'`, `API_KEY=…`, `{"client_secret": "…"}`, bearer tokens.

Of no documented format, so what looks like a word, a placeholder or code is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from evalsi_pack_safety.findings import Finding
from evalsi_pack_safety.structured_secrets import is_manual_token, is_placeholder
from evalsi_pack_safety.tokens import masked, stands_for_one

PASSWORD = "password"
NAMED_KEY = "named-key"
BEARER_TOKEN = "bearer-token"

_PASSWORD_NAME = r"password|passwd|passwort|passphrase|passcode|pwd|contrase[nñ]a|mot[_ ]de[_ ]passe"
_KEY_NAME = (
    r"api[_ -]?key|apikey|access[_ -]?key|secret[_ -]?key|private[_ -]?key|signing[_ -]?key|encryption[_ -]?key"
    r"|(?:access|auth|api|refresh|bearer|session|id|secret)[_ -]?token|client[_ -]?secret|app[_ -]?secret|secret"
)
_NAMED = re.compile(
    rf"(?:(?P<password>{_PASSWORD_NAME})|(?P<key>{_KEY_NAME}))"
    # A name in quotes ends with them; a type may stand between name and value.
    r"(?:\\?[\"'`\]]{1,2})?(?: ?: ?[A-Za-z_.]{2,20}(?= ?=))?"
    r"[ \t]{0,4}(?P<sign>=>|:=|={1,3}|:| is )[ \t]{0,4}"
    r"(?:\\?(?P<quote>[\"'`])(?P<quoted>[^\s\"'`\\]{6,200})\\?(?P=quote)"
    r"|(?P<bare>[^\s\"'`,;<>(){}\[\]&|]{8,200})(?![^\s,;&)}\]|.\"'`<]))",
    re.IGNORECASE,
)
_NAME = re.compile(rf".*(?:(?P<password>{_PASSWORD_NAME})|(?P<key>{_KEY_NAME}))", re.IGNORECASE)
_BEARER = re.compile(
    r"\bbearer[ \t]{1,4}(?P<token>[0-9A-Za-z._~+/-]{16,4000}={0,2})(?![0-9A-Za-z._~+/=-])", re.IGNORECASE
)
# Code that reads the secret from elsewhere, a path, an address.
_ELSEWHERE = re.compile(
    r"[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)+\Z|[./~]|https?:|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\Z|\w+[\[(]"
)
_WORDS = re.compile(r"[A-Za-zÀ-ÿ]+(?:[-_ ./][A-Za-zÀ-ÿ]+)*[.,:;!?]?\Z")
_SAYS_WHAT_IT_IS = re.compile(
    r"(?i)pass(?:word|wd|phrase)?\d{0,3}\Z|secret|token|api[_-]?key|string|required|optional|hidden|none|null|undefined"
    r"|(?:true|false)\Z|changeme|example|placeholder|redacted|insert|enter|your|here\Z|bcrypt|sha\d|md5|hash"
)
_FEWEST_IN_KEY = 12
_MARKS = ("pass", "pwd", "key", "token", "secret", "contrase", "mot")
"""Of which one stands in every name."""


def named_secrets(text: str, label: str = "") -> Iterator[Finding]:
    """Yield values that stand behind the name of a secret, or alone under a key of that name in JSON."""
    lower = text.lower()
    for match in _NAMED.finditer(text) if any(mark in lower for mark in _MARKS) else ():
        group = "bare" if match["quoted"] is None else "quoted"
        value = match[group]
        if group == "bare":
            value = value.rstrip(".!?:")
        is_password = match["password"] is not None
        is_assigned = group == "quoted" and "=" in match["sign"]
        if _is_secret(value, is_password=is_password, is_assigned=is_assigned):
            yield _finding(is_password, match.start(group), value)
    name = _NAME.fullmatch(label) if label else None
    value = text.strip()
    if name is not None and 6 <= len(value) <= 200 and not any(map(str.isspace, value)):
        is_password = name["password"] is not None
        if _is_secret(value, is_password=is_password, is_assigned=False):
            yield _finding(is_password, text.index(value), value)


def bearer_tokens(text: str, _label: str = "") -> Iterator[Finding]:
    """Yield the tokens of Authorization headers (RFC 6750), whatever their format."""
    for match in _BEARER.finditer(text) if "earer" in text or "EARER" in text else ():
        token = match["token"].rstrip(".")
        if not _is_random(token, 16) or is_manual_token(token) or stands_for_one(token) or is_placeholder(token):
            continue
        start = match.start("token")
        yield Finding(BEARER_TOKEN, start, start + len(token), masked("Bearer ", token), (token,))


def _finding(is_password: bool, start: int, value: str) -> Finding:
    kind = PASSWORD if is_password else NAMED_KEY
    return Finding(kind, start, start + len(value), masked("", value), (value,))


def _is_secret(value: str, *, is_password: bool, is_assigned: bool) -> bool:
    if len(value) < 6 or is_placeholder(value) or _SAYS_WHAT_IT_IS.search(value) or _ELSEWHERE.match(value):
        return False
    if is_password:
        # A word alone may be a label that was translated, so that it counts only where code assigns it.
        if _WORDS.match(value):
            return is_assigned and value.islower() and len(set(value)) > 3
        return len(set(value)) > 3 and (is_assigned or not value.isdecimal())
    return _is_random(value, _FEWEST_IN_KEY) and not stands_for_one(value) and not is_manual_token(value)


def _is_random(value: str, fewest: int) -> bool:
    """Whether a value is long, and no words: it has digits among its letters."""
    has_digit, has_letter = any(map(str.isdigit, value)), any(map(str.isalpha, value))
    return len(value) >= fewest and has_digit and has_letter and len(set(value)) >= 8
