"""The tools that grade faithfulness with a judge, beside ours: where each comes from, and the command that runs it.

Comparators only: each lives in a throw-away environment, and nothing of their code comes in here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.peer import PACKAGE, ensure_environment

SCRIPTS: Final = Path(__file__).parent / "judge_tools"
# What they send home is off, and what they would send all the same finds no way out of this machine.
OFFLINE: Final = {
    "HTTP_PROXY": "http://127.0.0.1:9",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "ALL_PROXY": "http://127.0.0.1:9",
    "NO_PROXY": "127.0.0.1,localhost",
    "DO_NOT_TRACK": "1",
    "RAGAS_DO_NOT_TRACK": "true",
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "DEEPEVAL_UPDATE_WARNING_OPT_IN": "0",
    "ANONYMIZED_TELEMETRY": "false",
}


class Tool(NamedTuple):
    """A tool.

    Args:
        name: for the table.
        packages: with their versions.
        script: that runs its job; "" for a command of the same words as ours.
        asks: what it asks of a record, for the table.
        is_one_question: whether that is all in one question.
    """

    name: str
    packages: tuple[str, ...]
    script: str
    asks: str
    is_one_question: bool = False

    def command(self, folder: Path, data: Path, base_url: str, at_once: int) -> list[str]:
        """The command for a tool with a script; its environment is made on first use.

        Scripts of one tool share it: their names begin with the tool's.
        """
        programs = ensure_environment(folder / "judges" / self.script.partition("_")[0], self.packages)
        return [str(programs / "python"), str(SCRIPTS / f"{self.script}_job.py"), str(data), base_url, str(at_once)]


# The newer langchain-community lacks a module that this RAGAS imports.
RAGAS: Final = Tool(
    "RAGAS 0.4.3",
    ("ragas==0.4.3", "langchain-community==0.3.31", "openai==3.3.0"),
    "ragas",
    "claims, then verdicts",
)
DEEPEVAL: Final = Tool(
    "DeepEval 4.3.1", ("deepeval==4.3.1",), "deepeval", "truths and claims at once, verdicts, reason"
)
TOOLS: Final = (
    Tool("evalsi 0.3.1", (PACKAGE,), "", "claims and verdicts at once", is_one_question=True),
    RAGAS,
    DEEPEVAL,
    Tool("Inspect 0.3.285", ("inspect-ai==0.3.285", "openai==3.57.0"), "inspect", "one grade", is_one_question=True),
)
