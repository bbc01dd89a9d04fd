"""Makes a `ProviderError` whose source and retry come from the registry of codes."""

from __future__ import annotations

from evalsi_kernel.broker.ask import UNKNOWN_TOKENS, Tokens
from evalsi_kernel.broker.connector import ProviderError
from evalsi_protocol.error_codes import ERROR_CODES


def failure(
    code: str,
    message: str,
    hint: str = "",
    *,
    retry_after_s: float | None = None,
    is_final: bool = False,
    tokens: Tokens = UNKNOWN_TOKENS,
    is_sent: bool = True,
    is_page: bool = False,
) -> ProviderError:
    """The error under a registered code; the arguments are those of `ProviderError`."""
    rule = ERROR_CODES[code]
    return ProviderError(
        code,
        message,
        hint,
        source=rule.source,
        retry=rule.retry,
        retry_after_s=retry_after_s,
        is_final=is_final,
        tokens=tokens,
        is_sent=is_sent,
        is_page=is_page,
    )
