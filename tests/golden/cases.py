"""All cases, by the file that their results are on record in."""

from __future__ import annotations

from golden import (
    cases_commands,
    cases_errors,
    cases_formats,
    cases_measures,
    cases_python,
)
from golden.harness import Case

__all__ = ["GROUPS"]

GROUPS: dict[str, list[Case]] = {
    **cases_measures.GROUPS,
    **cases_formats.GROUPS,
    **cases_commands.GROUPS,
    **cases_errors.GROUPS,
    **cases_python.GROUPS,
}
