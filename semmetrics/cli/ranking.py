"""What ``semmetrics rank`` does: read scores, normalise, rank, write."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import click

from semmetrics.cli.files import check_inputs, check_outputs, distinct_names, written
from semmetrics.comparison.runs import Rank, rank_normalized
from semmetrics.data.form import DEFAULTS
from semmetrics.data.source import load
from semmetrics.data.strict_json import parse as parse_json
from semmetrics.errors import InputError, listing
from semmetrics.reports.grid import draw
from semmetrics.scoring.parse import parse
from semmetrics.scoring.score import SCHEMA

__all__ = ["RANKS", "ranked", "values_of"]

RANKS = "semmetrics.ranks/1"


def ranked(files: Sequence[str], measure: str, form: str, output: str | None, digits: int) -> None:
    """Rank the systems in the files and write the ranks.

    Raises
    ------
    InputError
        If a file holds no such scores, or the measure cannot be ranked so.
    """
    check_inputs(files)
    check_outputs({"-o": output}, files)
    _check_direction(measure)
    datasets = distinct_names(files)
    values = {name: values_of(path, measure) for name, path in zip(datasets, files, strict=True)}
    text = _text(rank_normalized(values), datasets, measure, form, digits)
    if output in (None, "-"):
        click.echo(text)
        return
    with written(str(output)) as out:
        out.write(text + "\n")


def _check_direction(measure: str) -> None:
    try:
        definition = parse(measure)[0].definition
    except InputError:
        return  # a heading of a protocol
    if not definition.higher_is_better:
        raise InputError(
            f"{measure} is better when it is lower, and values are divided by the best",
            remedy="rank by a measure that is better when it is higher",
        )


def values_of(path: str, measure: str) -> dict[str, float]:
    """The value of each system in a file of scores; nan where it is undefined.

    Raises
    ------
    InputError
        If the file is none of scores, or lacks the measure, or has it twice for a system.
    """
    source = load(path, DEFAULTS.max_bytes)
    scores = parse_json(source.text, source.name)
    if not isinstance(scores, list) or not all(map(_is_score, scores)):
        raise InputError(
            "this is no list of scores", where=source.name,
            remedy="write it with: semmetrics score --format json -o FILE",
        )  # fmt: skip
    names = _names(measure)
    found: dict[str, float] = {}
    for score in scores:
        if score["measure"] not in names and score.get("heading") not in names:
            continue
        if score["system"] in found:
            raise InputError(f"{score['system']} has {measure} twice", where=source.name,
                             remedy="name one of them as the file does")  # fmt: skip
        found[score["system"]] = math.nan if score["value"] is None else float(score["value"])
    if not found:
        there = listing(dict.fromkeys(s.get("heading", s["measure"]) for s in scores), most=20)
        raise InputError(f"there is no {measure}", where=source.name,
                         remedy=f"choose with -m among {there}")  # fmt: skip
    return found


def _names(measure: str) -> set[str]:
    """The name as it is written, and as scores write it."""
    try:
        return {measure, *map(str, parse(measure))}
    except InputError:
        return {measure}


def _is_score(entry: Any) -> bool:
    if not isinstance(entry, Mapping) or entry.get("schema") != SCHEMA:
        return False
    value = entry.get("value", "")
    number = value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))
    return number and isinstance(entry.get("system"), str) and isinstance(entry.get("measure"), str)


def _text(
    ranks: Sequence[Rank], datasets: Sequence[str], measure: str, form: str, digits: int
) -> str:
    if form == "json":
        return json.dumps([_entry(rank, measure) for rank in ranks], indent=1, ensure_ascii=False)
    full = form == "csv"
    head = ["system", "rank", f"normalized {measure}", *datasets]
    blank = "" if full else "-"
    rows = [
        [rank.system, blank if rank.rank is None else str(rank.rank),
         *(_shown(v, None if full else digits, blank)
           for v in (rank.value, *(rank.normalized.get(name, math.nan) for name in datasets)))]
        for rank in ranks
    ]  # fmt: skip
    return draw([head, *rows], form)


def _shown(value: float, digits: int | None, blank: str) -> str:
    if math.isnan(value):
        return blank
    return repr(value) if digits is None else f"{value:.{digits}f}"


def _entry(rank: Rank, measure: str) -> dict[str, Any]:
    return {
        "schema": RANKS,
        "system": rank.system,
        "rank": rank.rank,
        "measure": measure,
        "value": None if math.isnan(rank.value) else rank.value,
        "normalized": dict(rank.normalized),
        "lacking": list(rank.lacking),
    }
