"""What may not touch a number on either side: letters of scripts that part words by blanks, digits and underscores.

Chinese, Japanese or Thai letters may: there no blank stands between a word and a number.
"""

from __future__ import annotations

# Within square brackets of a pattern.
JOINED = r"0-9A-Za-z_\u00aa\u00ba\u00c0-\u024f\u0370-\u052f"
