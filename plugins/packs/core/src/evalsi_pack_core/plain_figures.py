"""The figures of every script as ASCII writes them: digits, minus, separators, currency signs, edges of tokens.

It must not know what a number is.
"""

from __future__ import annotations

import re
import unicodedata

# Japanese, Chinese and Korean write 3万 for 30000: such a letter belongs to the number, which is then not read at all.
MULTIPLIERS = "十百千万萬亿億兆십백천만억조"
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")

_GROUPING_SPACE = re.compile("(?<=\\d)[\u00a0\u2009\u202f](?=\\d{3}(?!\\d))")
_SEPARATOR = re.compile(r"(?<=\d)[，．٬٫’](?=\d)")
_SEPARATORS = {"，": ",", "．": ".", "٬": ",", "٫": ".", "’": "'"}
_VULGAR = re.compile("(?P<mixed>(?<=\\d)[ \u00a0\u2009\u202f]?)?(?P<sign>[¼½¾⅐-⅞↉])")
_SLASHES = str.maketrans("⁄∕", "//")
_RAISED = re.compile(r"(?<=\d)[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_FULL_WIDTH = range(ord("！"), ord("～") + 1)
_EM_DASHES = "—―"
# Words of magnitude of other scripts → those that `compound_figures` knows.
_MAGNITUDES = {
    **dict.fromkeys(("тысяч", "тыс", "हज़ार", "हजार", "ألف", "হাজার"), "thousand"),
    **dict.fromkeys(("लाख", "লাখ"), "lakh"),
    **dict.fromkeys(("миллион", "млн", "milhões", "milhão", "millón", "مليون", "ล้าน"), "million"),
    **dict.fromkeys(("करोड़", "करोड", "কোটি"), "crore"),
    **dict.fromkeys(("миллиард", "млрд", "अरब", "bilhões", "bilhão", "مليار"), "billion"),
    **dict.fromkeys(("триллион", "трлн"), "trillion"),
}
_MAGNITUDE = re.compile(
    rf"(?<=\d)\s*(?P<word>{'|'.join(sorted(_MAGNITUDES, key=len, reverse=True))})[а-я]{{0,3}}\.?(?!\w)"
)


class _Figures(dict[int, str]):
    """For `str.translate`: what a character is to a number. Filled as characters come."""

    def __missing__(self, code_point: int) -> str:
        self[code_point] = result = _figure(chr(code_point))
        return result


_FIGURES = _Figures({code_point: chr(code_point) for code_point in range(128)})


def plain_figures(text: str) -> str:
    """The text with its figures in ASCII; words keep or lose their letters, as no number needs them."""
    text = _MAGNITUDE.sub(lambda found: f" {_MAGNITUDES[found['word']]}", text)
    text = _GROUPING_SPACE.sub("_", text)
    text = _SEPARATOR.sub(lambda found: _SEPARATORS[found[0]], text)
    text = _VULGAR.sub(_vulgar, text).translate(_SLASHES)
    text = _RAISED.sub(lambda found: "^" + found[0].translate(_SUPERSCRIPTS), text)
    return text.translate(_FIGURES)


def _vulgar(found: re.Match[str]) -> str:
    return f"{'' if found['mixed'] is None else ' '}{unicodedata.normalize('NFKC', found['sign'])}"


def _figure(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Nd":
        return str(unicodedata.decimal(character))
    if character == "−" or category == "Pd":
        # An en dash before digits is meant as a minus; between words and numbers an em dash only separates.
        return " " if character in _EM_DASHES else "-"
    if category == "Sc":
        return "$"
    if category in ("Mn", "Mc", "Me", "Cf"):
        return ""
    if category == "Lo" and character not in MULTIPLIERS:
        # Scripts without case glue words to numbers, 答えは42です, or have none between them.
        return " "
    if ord(character) in _FULL_WIDTH and character not in "，．。":
        return unicodedata.normalize("NFKC", character)
    # Other punctuation and signs, such as 「 ° ✅, end a token; of mathematics only what cannot join two numbers.
    return " " if category[0] == "P" or category in ("So", "Zs", "Zl", "Zp") else character
