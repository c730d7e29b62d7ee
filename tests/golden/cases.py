"""All cases, by the file of their recorded results."""

from __future__ import annotations

from golden import (
    cases_commands,
    cases_functions,
    cases_kinds,
    cases_measures,
    cases_names,
    cases_objects,
    cases_settings,
)
from golden.harness import Case

GROUPS: dict[str, list[Case]] = {
    **cases_names.GROUPS,
    **cases_measures.GROUPS,
    **cases_settings.GROUPS,
    **cases_kinds.GROUPS,
    **cases_functions.GROUPS,
    **cases_objects.GROUPS,
    **cases_commands.GROUPS,
}
