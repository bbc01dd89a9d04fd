"""Maps an answer with a failing HTTP status to an error: what the provider said, and what to do about it.

It must not know which API answered.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from evalsi_kernel.broker.connector import ProviderError

from .bodies import read_json
from .failure import failure
from .refusal import Refusal, read_refusal
from .retry_after import retry_after_s
from .who import Who

OVERLOADED = 529
"""Of Anthropic: too many calls of all its users; fewer calls help as with 429."""
PROXY_LOGIN = 407
SERVER_ERROR = 500
_QUOTA = re.compile(
    r"(?i)insufficient_quota|billing_error|billing_hard_limit|spend_limit|"
    r"credit balance is too low|insufficient balance"
)
_MODEL = re.compile(r"(?i)\bmodels?\b")
_TOO_LONG = re.compile(r"(?i)context.?(?:length|window|size)|maximum context|too long|too many tokens|max_\w*tokens")


def status_error(status: int, headers: Mapping[str, str], content: bytes, who: Who) -> ProviderError:
    """The error for an answer that is no success; `content` is its whole body."""
    if 300 <= status < 400:
        return _sent_on(status, headers, who)
    refusal = read_refusal(content)
    said = who.excerpt(content) if content.lstrip().startswith(b"<") else _quotes(refusal, who)
    message = f"{who} answered {status}: {said}." if said else f"{who} answered {status} and said nothing."
    if status == SERVER_ERROR and read_json(content)[1]:
        # An API says in JSON why it failed. The pages of 502 to 504 are a balancer's in front of it, which may go away.
        hint = f"Check {who.flag('base-url')}: what answers there does not seem to be a model's API."
        return failure("provider.failed", message, hint, retry_after_s=retry_after_s(headers), is_page=True)
    return refused(status, refusal, message, headers, who)


def refused(status: int, refusal: Refusal, message: str, headers: Mapping[str, str], who: Who) -> ProviderError:
    """The error for a refusal that is read already, also one that came with a successful status.

    Args:
        status: the HTTP status that it has, or should have had.
        refusal: what the provider says.
        message: the error's message.
        headers: of the answer.
        who: that was called.
    """
    wait_s = retry_after_s(headers)
    if code := _code_for_later(status, refusal, wait_s):
        hint = "Lower --judge-max-in-flight, or ask for a higher limit." if status == 429 else "Try again later."
        return failure(code, message, hint, retry_after_s=wait_s)
    if _is_quota(status, refusal, wait_s):
        named = who.flag("api-key-env")
        hint = f"Pay in credit or raise the limit of the account, or name the key of another with {named}."
        return failure("provider.quota", message, hint, is_final=True)
    if status == PROXY_LOGIN:
        return proxy_login(message)
    if status in (401, 403):
        key = "the key" if who.key else "a key (none was sent)"
        named = who.flag("api-key-env")
        hint = f"Check {key}, and that it may use {who.model}. {named} names the variable that holds it."
        return failure("provider.auth", message, hint, is_final=True)
    if status == 404:
        return failure("provider.not_found", message, _hint_not_found(refusal, who), is_final=True)
    if status == 501:
        return failure("provider.unsupported", message, "Name another model or provider.")
    return failure("provider.bad_request", message, _hint_bad_request(status, refusal, who))


def proxy_login(message: str) -> ProviderError:
    """The error where a proxy, and not the provider, wants to know who calls."""
    hint = "Write the user and the password that it wants into the proxy's variable: http://USER:PASSWORD@HOST:PORT."
    return failure("provider.auth", message, hint, is_final=True)


def _code_for_later(status: int, refusal: Refusal, wait_s: float | None) -> str:
    """The code of an error that may be gone later, or ""."""
    if status == OVERLOADED:
        return "provider.rate_limited"
    if status == 429:
        return "" if _is_quota(status, refusal, wait_s) else "provider.rate_limited"
    if status == 408:
        return "provider.timeout"
    return "provider.failed" if status in (409, 425) or (status >= 500 and status != 501) else ""


def _is_quota(status: int, refusal: Refusal, wait_s: float | None) -> bool:
    """Nothing but money helps. Some say so with 400, 403 or 429; one that says how long to wait means another thing."""
    said = f"{refusal.message} {refusal.code}"
    return status == 402 or (status in (400, 403, 429) and wait_s is None and _QUOTA.search(said) is not None)


def _sent_on(status: int, headers: Mapping[str, str], who: Who) -> ProviderError:
    """The error for a redirect, which is not followed: a key goes to the address that it was given for."""
    where = who.quoted(headers.get("location", "")) or "another address"
    return failure(
        "provider.not_found",
        f"{who} sends its callers on to {where} ({status}).",
        f"Give the address that it names with {who.flag('base-url')}.",
        is_final=True,
    )


def _quotes(refusal: Refusal, who: Who) -> str:
    text = who.quoted(refusal.message or refusal.code)
    return f'"{text.rstrip(".")}"' if text else ""


def _hint_not_found(refusal: Refusal, who: Who) -> str:
    if _MODEL.search(f"{refusal.message} {refusal.code}"):
        return f'Check the name "{who.model}" ({who.flag("model")}), and that the key may use it.'
    root, flag = who.address.root, who.flag("base-url")
    if who.usual_path and not who.address.has_path:
        path = who.usual_path
        return f"Check {flag}: {root} has no path, and most servers answer under one, such as {root}{path}."
    if not who.usual_path and root.endswith("/v1"):
        return f'Leave "/v1" out of {flag} ({root}): it is added with each call.'
    return f'Check {flag} ({root}) and the name "{who.model}" ({who.flag("model")}).'


def _hint_bad_request(status: int, refusal: Refusal, who: Who) -> str:
    if status == 413 or _TOO_LONG.search(f"{refusal.message} {refusal.code}"):
        lower = " lower --judge-max-tokens," if who.kind == "judge" else ""
        return f"Shorten the record's texts,{lower} or name a model that takes more."
    return "Change what the provider names, or name another model."
