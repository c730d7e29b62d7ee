"""Report the progress of long computations to a callback."""

from __future__ import annotations

from collections.abc import Callable


def report_progress(
    progress: Callable[..., object] | None,
    done: int,
    total: int,
    stage: str,
    unit: str,
    **form: object,
) -> None:
    """Call a callback with the number of finished and of all units, if there is a callback.

    A callback with a true attribute ``labelled`` also gets the stage and the unit.

    Parameters
    ----------
    progress : callable or None
    done, total : int
    stage : str
        The computation, such as "bootstrap".
    unit : str
        The noun for a unit.
    **form
        Further keywords of ``tqdm.format_meter``.

    Examples
    --------
    >>> report_progress(lambda done, total: print(done, "of", total), 3, 8, "scoring", "item")
    3 of 8
    """
    if progress is None:
        return
    if getattr(progress, "labelled", False):
        progress(done, total, prefix=stage, unit=f" {unit}", **form)
    else:
        progress(done, total)
