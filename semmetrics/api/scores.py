"""Scores from Python objects, arrays or paths, in one call."""

from __future__ import annotations

import inspect
import os
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from semmetrics.options import OPTIONS, check_options, hint_of
from semmetrics.reports.table import ScoreTable
from semmetrics.scoring.systems import Prepared, prepare_systems, score_prepared

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from semmetrics.options import Options

__all__ = ["document_options", "score", "score_systems", "system_name"]

F = TypeVar("F", bound=Callable[..., Any])


def document_options(*without: str) -> Callable[[F], F]:
    """Give a function with ``**options`` the signature and docstring of the table of options.

    Parameters
    ----------
    *without : str
        Options that the function does not take.
    """
    options = [option for name, option in OPTIONS.items() if name not in without]

    def decorate(function: F) -> F:
        own = inspect.signature(function)
        parameters = [p for p in own.parameters.values() if p.kind is not p.VAR_KEYWORD]
        parameters += [
            inspect.Parameter(
                option.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=option.default,
                annotation=hint_of(option.name),
            )
            for option in options
        ]
        function.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        lines = [f"{o.name} : {hint_of(o.name)}\n    {_wrap(o.text())}" for o in options]
        every = textwrap.indent("\n".join(lines), "    ").strip()
        function.__doc__ = (function.__doc__ or "").replace("**options", every, 1)
        return function

    return decorate


def _wrap(text: str) -> str:
    return "\n    ".join(textwrap.wrap(text, 88))


@document_options()
def score(
    preds: Any, gts: Any, *, system: str | None = None, **options: Unpack[Options]
) -> ScoreTable:
    """Score the predictions of one system against ground truth.

    Parameters
    ----------
    preds, gts : path, mapping, sequence, Series, matrix, Lists or Matrix
        See ``semmetrics.as_labels`` and ``semmetrics.as_captions``.
    system : str, optional
        What the table calls it. The default is the file's name without its ending, or "preds".
    **options

    Returns
    -------
    ScoreTable

    Raises
    ------
    InputError
        If the input or an option is wrong; the message has the place and the remedy.

    Examples
    --------
    >>> table = score([["cat", "dog"], ["cat"]], [["cat"], ["cat"]], measures=["F1", "MacroF1"])
    >>> [round(s.value, 4) for s in table]
    [0.8333, 1.0]
    """
    return score_systems({system or system_name(preds): preds}, gts, **options)


def system_name(data: Any) -> str:
    """Return what a system is called: its file's name without endings.

    Examples
    --------
    >>> system_name("runs/resnet.json.gz")
    'resnet'
    """
    if isinstance(data, (str, os.PathLike)) and os.fspath(data) != "-":
        name = Path(data).name.removesuffix(".gz")
        return name.rpartition(".")[0] or name
    return "preds"


@document_options()
def score_systems(systems: Mapping[str, Any], gts: Any, **options: Unpack[Options]) -> ScoreTable:
    """Score several systems against the same ground truth.

    Parameters
    ----------
    systems : mapping from name to predictions
        Each as ``preds`` of ``score``.
    gts : path, mapping, sequence, Series, matrix, Lists or Matrix
    **options

    Returns
    -------
    ScoreTable

    Raises
    ------
    InputError
        If the input or an option is wrong; the message has the place and the remedy.
    """
    check_options("score", options)
    return table_of(prepare_systems(systems, gts, options))


def table_of(prepared: Prepared) -> ScoreTable:
    """Score prepared tasks, and return the table with all that is said beside it."""
    scores = score_prepared(prepared)
    return ScoreTable(
        scores,
        prepared.plan.not_computed,
        prepared.notes(scores),
        prepared.understood(),
    )
