"""Write ``options.md`` from the tables of options: ``python docs/generate.py``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from semmetrics.arguments import describe_type
from semmetrics.cli import commands, tools  # noqa: F401 - they register the commands
from semmetrics.cli.generate import SPECS, options_of
from semmetrics.options import COMMAND_OPTIONS, OPTIONS, OUTPUT, READING, TITLES, Option, hint_of

PAGE = Path(__file__).with_name("options.md")


def page() -> str:
    """Return the page: what stands before its first table, then the tables."""
    head = PAGE.read_text(encoding="utf-8").partition("\n## ")[0]
    return "\n".join([head, *_scores(), *_others()])


def _scores() -> Iterator[str]:
    for title in [*TITLES, ""]:
        group = [one for one in OPTIONS.values() if one.group == title]
        if group:
            names = ["keyword", "flag", "type", "applies to", "default", "signature", "meaning",
                     "commands"]  # fmt: skip
            yield from _table(title or "Python only", names, map(_score_row, group))


def _score_row(one: Option) -> list[str]:
    hint = hint_of(one.name)
    kind = _choices(one) or ("" if hint is Any else describe_type(hint))
    key = f"`{one.key}:`" if one.key else ""
    kinds = ", ".join(one.kinds) or "all"
    return [
        f"`{one.name}`",
        _flags(one),
        kind,
        kinds,
        f"`{one.default!r}`",
        key,
        one.help,
        _taken(one),
    ]


def _others() -> Iterator[str]:
    names = ["keyword", "flag", "default", "meaning"]
    for title, options in {
        "How files are read": READING,
        "How results are written": OUTPUT,
    }.items():
        yield from _table(
            title, [*names, "commands"], ([*_row(o), _taken(o)] for o in options.values())
        )
    for name in SPECS:
        changed = {
            n: o for n, o in options_of(name).items() if o.default != OPTIONS.get(n, o).default
        }
        if own := COMMAND_OPTIONS.get(name, {}) | changed:
            yield from _table(f"`semmetrics {name}`", names, map(_row, own.values()))


def _row(one: Option) -> list[str]:
    meaning = f"{one.help} {f'One of {_choices(one)}.' if one.choices else ''}".strip()
    return [f"`{one.name}`", _flags(one), f"`{one.default!r}`", meaning]


def _choices(one: Option) -> str:
    return ", ".join(f"`{choice}`" for choice in one.choices)


def _taken(one: Option) -> str:
    """Name the commands that have an option as it stands in a table."""
    having = [n for n in SPECS if one.name in {*options_of(n)} - {*COMMAND_OPTIONS.get(n, {})}]
    return ", ".join(having)


def _flags(one: Option) -> str:
    flags = one.flags or (one.flag,) if one.group else ()
    return ", ".join(f"`{flag}`" for flag in flags)


def _table(title: str, names: list[str], rows: Iterable[list[str]]) -> Iterator[str]:
    yield from (f"## {title}", "", f"| {' | '.join(names)} |", "|---" * len(names) + "|")
    yield from (
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows
    )
    yield ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
