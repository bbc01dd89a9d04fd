"""How long a call may take, in either form: seconds (`timeout_s: 30`) or a duration (`timeout: 30s`).

It must not know what is called.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, model_validator

from evalsi_kernel.checking.toml_tables import Misfit, Table
from evalsi_kernel.runs.spec import Duration, seconds

_SECONDS, _DURATION = "timeout_s", "timeout"

InSeconds = Annotated[float, Field(gt=0, le=86_400, description="how long one call may take, in seconds")]
# Not told again: what it says is in timeout_s.
AsDuration = Annotated[Duration | None, Field(exclude=True, description="the same as a duration, such as 30s")]


class Timed(Table):
    """A target whose calls have their time: `timeout_s`, which is what is read, and `timeout`."""

    @model_validator(mode="before")
    @classmethod
    def _in_seconds(cls, values: Any) -> Any:
        if not isinstance(values, dict) or values.get(_DURATION) is None:
            return values
        if values.get(_SECONDS) is not None:
            raise Misfit(
                f"says how long a call may take twice, as {_DURATION} and {_SECONDS}", "Leave one of them out."
            )
        spelt = seconds(values[_DURATION])
        is_number = isinstance(spelt, int | float) and not isinstance(spelt, bool)
        return {**values, _SECONDS: float(spelt)} if is_number else values
