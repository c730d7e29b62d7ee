"""Write ``options.md`` from the tables of options: ``python docs/generate.py``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from semmetrics.arguments import describe_type
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
            names = ["keyword", "flag", "type", "applies to", "default", "signature", "meaning"]
            yield from _table(title or "Python only", names, map(_score_row, group))


def _score_row(one: Option) -> list[str]:
    hint = hint_of(one.name)
    kind = "" if hint is Any else describe_type(hint)
    key = f"`{one.key}:`" if one.key else ""
    kinds = ", ".join(one.kinds) or "all"
    return [f"`{one.name}`", _flags(one), kind, kinds, f"`{one.default!r}`", key, one.help]


def _others() -> Iterator[str]:
    shared = {"How files are read, by every command": READING, "How results are written": OUTPUT}
    own = {f"`semmetrics {name}`": options for name, options in COMMAND_OPTIONS.items()}
    for title, options in {**shared, **own}.items():
        rows = [[f"`{n}`", _flags(o), f"`{o.default!r}`", o.help] for n, o in options.items()]
        yield from _table(title, ["keyword", "flag", "default", "meaning"], rows)


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
