"""All cases, by the file that their results are on record in."""

from __future__ import annotations

from golden import (
    cases_arrays,
    cases_classes,
    cases_commands,
    cases_devices,
    cases_errors,
    cases_fits,
    cases_formats,
    cases_large,
    cases_measures,
    cases_names,
    cases_objects,
    cases_pickles,
    cases_retrieval,
    cases_thresholds,
)
from golden.harness import Case

__all__ = ["GROUPS"]

GROUPS: dict[str, list[Case]] = {
    **cases_names.GROUPS,
    **cases_measures.GROUPS,
    **cases_formats.GROUPS,
    **cases_commands.GROUPS,
    **cases_errors.GROUPS,
    **cases_pickles.GROUPS,
    **cases_arrays.GROUPS,
    **cases_thresholds.GROUPS,
    **cases_fits.GROUPS,
    **cases_objects.GROUPS,
    **cases_devices.GROUPS,
    **cases_large.GROUPS,
    **cases_retrieval.GROUPS,
    **cases_classes.GROUPS,
}
