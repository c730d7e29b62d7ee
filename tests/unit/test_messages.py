"""Messages: positions with their base, and all that they show."""

import ast
import re
import string
from pathlib import Path

import pandas as pd
import pytest

import semmetrics
from semmetrics import parse
from semmetrics.errors import InputError
from semmetrics.messages import MESSAGES
from semmetrics.options import flag

SOURCES = sorted(Path(semmetrics.__file__).parent.rglob("*.py"))


# ---- positions -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("preds", "place"),
    [
        ([["dog"], ["cat", 3]], "preds, item 1, label 1 (from 0)"),
        ([["dog"], ["cat", ""]], "preds, item 1, label 1 (from 0)"),
        ([["dog"], 3], "preds, item 1 (from 0)"),
        (
            [{"id": "a", "labels": ["cat", 3]}],
            "preds, element [0], id 'a', label 1 (from 0)",
        ),
        ({"a": ["cat", 3]}, "preds, id 'a', label 2"),
        (pd.Series([["dog"], ["cat", 3]]), "preds, row 1, label 1 (from 0)"),
        (pd.Series([["dog"], ["cat", 3]], index=["a", "b"]), "preds, id 'b', label 2"),
    ],
)
def test_numbers_of_one_place_count_alike(preds, place):
    with pytest.raises(InputError) as error:
        semmetrics.score(preds, [["cat"], ["dog"]], measures="F1", task="labels")
    assert error.value.where == place


def test_messages_write_options_as_the_caller_does():
    """By ``{opt:name}``; a flag of a command that is no keyword stands in parentheses."""
    shown = {
        code: str(text)
        for code, text in MESSAGES.items()
        if re.search(r"(?<!\S)--", str(text))
    }
    assert [
        c
        for c, text in shown.items()
        if "pip " not in text and "semmetrics " not in text
    ] == []


def raised():
    """Every error and fact of the package that is made with a literal code: code, keywords."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = getattr(getattr(node, "func", None), "id", "")
            known = name in ("InputError", "UnknownKeyError", "Fact") and node.args
            if known and isinstance(node.args[0], ast.Constant):
                yield name, node.args[0].value, node, path


def test_every_error_gives_what_its_message_shows():
    for name, code, node, path in raised():
        given = {keyword.arg for keyword in node.keywords}
        if name == "Fact" or code not in MESSAGES or None in given:
            continue
        fields = {field for _, field, _, _ in string.Formatter().parse(MESSAGES[code])}
        shown = fields - {None, "opt", "fix", "likely"}
        shown = shown - {"setting"} | {"name", "value"} if "setting" in shown else shown
        assert shown <= given, f"{path.name}:{node.lineno}: {code}"


def test_options_of_measures_have_no_flags():
    with pytest.raises(InputError) as caught:
        parse("F1(empty=2)")
    assert "empty='2'" in caught.value.text(flag)
