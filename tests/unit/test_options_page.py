"""The tables of docs: every option, and every key of a score, a row, and every row one of them."""

import re
from pathlib import Path
from typing import Any

import semmetrics
from semmetrics.arguments import describe_type
from semmetrics.options import OPTIONS, hint_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "options.md"


def rows():
    """The cells of every row, without the headings of the tables."""
    lines = re.findall(r"^\| (`.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return [[cell.strip() for cell in line.split(" | ")] for line in lines]


def expected(option):
    flags = option.flags or (option.flag,) if option.group else ()
    hint = hint_of(option.name)
    return [
        f"`{option.name}`",
        ", ".join(f"`{flag}`" for flag in flags),
        "" if hint is Any else describe_type(hint),
        ", ".join(option.kinds) or "all",
        f"`{option.default!r}`",
        f"`{option.key}:`" if option.key else "",
        option.help,
    ]


def test_every_option_is_a_row_and_every_row_an_option():
    assert [row[0].strip("`") for row in rows()] == list(OPTIONS)
    assert rows() == [expected(option) for option in OPTIONS.values()]


def test_the_headings_are_those_of_the_help():
    titles = re.findall(r"^## (.*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    groups = [option.group or "Python only" for option in OPTIONS.values()]
    assert titles == list(dict.fromkeys(groups))


def test_every_key_of_scores_as_json_is_a_row():
    page = PAGE.with_name("cli.md").read_text(encoding="utf-8")
    section = page.partition("## Scores as JSON")[2]
    heads = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    listed = [key for head in heads for key in re.findall(r"`(\w+)`", head)]
    (found,) = semmetrics.score({"a": ["cat"]}, {"a": ["cat"]}, measures="F1").to_dicts()
    assert sorted(listed) == sorted(found)
