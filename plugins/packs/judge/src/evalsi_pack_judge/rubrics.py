"""The built-in rubrics, and what a rubric of a user's own words is.

A rubric says what of a record it is judged by. Whoever changes a word here bumps the version of `llm-judge` and of
`pairwise`.
"""

from __future__ import annotations

from typing import NamedTuple

from evalsi import ParamError
from evalsi_pack_judge.texts import FIELDS


class Rubric(NamedTuple):
    """By what an answer is judged.

    Args:
        name: of a built-in one; "own" for a user's.
        text: as the judge reads it.
        shows: the fields of a record that are shown beside the answer, where it has them.
        needs: those without which a record is skipped.
    """

    name: str
    text: str
    shows: tuple[str, ...]
    needs: tuple[str, ...]

    @property
    def is_own(self) -> bool:
        """Whether it is a user's."""
        return self.name == "own"


CORRECTNESS = Rubric(
    "correctness",
    """\
The answer says what the block "reference" says. Where there are several such blocks, agreement with any one is enough.
- What is meant counts, not how it is put: another form of the same number, date or name agrees, and so does another
  language. More than the reference says costs nothing as long as it does not contradict it.
- A contradiction in what was asked for is the worst. A part of the reference that is asked for and missing, or several
  different answers at once, of which one may be right, cost accordingly.
- The reference decides, also where you hold something else to be true.""",
    ("input", "reference"),
    ("reference",),
)
FAITHFULNESS = Rubric(
    "faithfulness",
    """\
All that the answer states is said in the context blocks, or follows from them alone.
- What is true but not said there is not supported. What the context contradicts is worse than what it does not say.
- Statements count by their weight: a wrong main point costs more than a wrong aside.
- Whether the answer is complete or useful is not asked. The block "input" only tells what the answer is about.""",
    ("input", "context"),
    ("context",),
)
HELPFULNESS = Rubric(
    "helpfulness",
    """\
The answer does what the block "input" asks for, so that whoever asked could go on with it at once.
- It meets the purpose of the request and every demand that it makes, such as a form, a length or a language.
- It is right as far as you can tell, complete, and clear. An error that would mislead weighs heavily.
- Evasion, padding, needless warnings, and a refusal without a good reason are no help. Where the request should not be
  met, or cannot be, a plain word about that with the nearest thing that can be done is the best help.""",
    ("input",),
    ("input",),
)
RELEVANCE = Rubric(
    "relevance",
    """\
The answer is about what the block "input" asks, all of it and nothing else.
- A part of the request that is passed over, and text that is beside the point, cost alike.
- An evasion, or a refusal that answers nothing, is not relevant.
- Whether the answer is true is not asked.""",
    ("input",),
    ("input",),
)
BUILT_IN = {rubric.name: rubric for rubric in (CORRECTNESS, FAITHFULNESS, HELPFULNESS, RELEVANCE)}


def rubric_of(text: str) -> Rubric:
    """The built-in rubric of this name, or one of the user's own words.

    Raises:
        evalsi.ParamError: it is blank, or one word that names none: a slip of the pen is no rubric.
    """
    stripped = text.strip()
    if stripped in BUILT_IN:
        return BUILT_IN[stripped]
    if len(stripped.split()) < 2:
        hint = f"Name one of {', '.join(BUILT_IN)}, or write what you grade by in several words"
        raise ParamError("rubric", f"{text!r} is no rubric. {hint}.")
    return Rubric("own", stripped, FIELDS, ())
