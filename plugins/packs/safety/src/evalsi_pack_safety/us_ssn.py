"""US Social Security numbers: with hyphens anywhere, with blanks or bare where a word says what they are.

Which numbers are given out, and which were printed in advertisements and are nobody's, is python-stdnum's to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from evalsi_pack_safety.edges import JOINED
from evalsi_pack_safety.findings import Finding, compact
from evalsi_pack_safety.nearby_words import NUMBERED_THINGS, SOCIAL_SECURITY

KIND = "us-ssn"

_SSN = re.compile(
    rf"[0-9](?<![{JOINED}.-].)[0-9]{{2}}([ .-]?)[0-9]{{2}}\1[0-9]{{4}}(?![{JOINED}])(?!-[0-9A-Za-z])(?![./,][0-9])"
)


def us_ssns(text: str, label: str = "") -> Iterator[Finding]:
    """The Social Security numbers in a readable text."""
    for match in _SSN.finditer(text):
        said = SOCIAL_SECURITY.said(text, match.start(), label)
        if not said and (match[1] != "-" or NUMBERED_THINGS.said(text, match.start(), label)):
            continue
        from stdnum.us import ssn  # 40 ms that only a number of this form need pay.

        digits = compact(match[0])
        if ssn.is_valid(digits):
            yield Finding(KIND, match.start(), match.end(), f"…{digits[-2:]}", (digits,))
