"""Messages: numbers and plurals, options by both their names, positions with their base."""

import ast
import re
import string
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

import semmetrics
from semmetrics import parse
from semmetrics.errors import FROM_0, InputError
from semmetrics.messages import MESSAGES
from semmetrics.options import flag

SOURCES = sorted(Path(semmetrics.__file__).parent.rglob("*.py"))


@cache
def nodes(path):
    """The syntax of a module, without texts that stand alone: docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [node for node in ast.walk(tree) if id(node) not in alone]


def as_written(part):
    """A part of an f-string; of what is put into it, the base of positions alone is known."""
    if isinstance(part, ast.Constant):
        return part.value
    return FROM_0 if ast.unparse(part.value) == "FROM_0" else "{}"


def texts(path):
    """The texts of a module and their lines, with {} for what is put into them."""
    found = nodes(path)
    inside = {id(part) for node in found if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in found:
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(map(as_written, node.values))
        elif isinstance(getattr(node, "value", None), str) and id(node) not in inside:
            yield node.lineno, node.value


# ---- plurals -------------------------------------------------------------------------------------


# ---- options by both names -----------------------------------------------------------------------

BELOW_CLI = [path for path in SOURCES if "cli" not in path.parts[len(SOURCES[0].parts) - 2 :]]
FLAG = re.compile(r"(?<![\w-])(--[a-z][a-z-]+(?![\w-])|-[mo](?=[ )]|$))")
KEYWORDS = {
    "--class-list": "class_lists",
    "--jars": "folder",
    "-m": "measures?",
    "--input-format": "format",
    "--overwrite": "resume",
    "--show-signatures": "signature",
    "--verify": "check",
}
# Commands word by word, and what only the command line shows: headings of 'semmetrics list'.
COMMANDS = re.compile(
    r"--|-[mo]$|.*--(classes|taxonomy) [a-z]+\.(txt|json) |[A-Z][a-z ]+ \(--[a-z]+"
)


def names_a_keyword(flag, text):
    """Tell whether a text has the keyword of a flag before it, or the flag is that of a command."""
    before = text[: text.index(flag)]
    keyword = KEYWORDS.get(flag) or flag[2:].replace("-", "_")
    if re.search("semmetrics |run: |on the command line $", before):
        return True
    return re.search(rf"\b{keyword}(=|\b.*\(|,)", before, re.DOTALL)


def test_a_flag_stands_beside_its_keyword():
    wrong = [
        f"{path.name}:{line}: {text}"
        for path in BELOW_CLI
        if path.name != "options.py"  # the table of flags
        for line, text in texts(path)
        for flag in FLAG.findall(text)
        if not COMMANDS.match(text) and not names_a_keyword(flag, text)
    ]
    assert not wrong, "\n".join(wrong)


# ---- positions -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("preds", "place"),
    [
        ([["dog"], ["cat", 3]], "preds, item 1, label 1 (from 0)"),
        ([["dog"], ["cat", ""]], "preds, item 1, label 1 (from 0)"),
        ([["dog"], 3], "preds, item 1 (from 0)"),
        ([{"id": "a", "labels": ["cat", 3]}], "preds, element [0], id 'a', label 1 (from 0)"),
        ({"a": ["cat", 3]}, "preds, id 'a', label 2"),
        (pd.Series([["dog"], ["cat", 3]]), "preds, row 1, label 1 (from 0)"),
        (pd.Series([["dog"], ["cat", 3]], index=["a", "b"]), "preds, id 'b', label 2"),
    ],
)
def test_numbers_of_one_place_count_alike(preds, place):
    with pytest.raises(InputError) as error:
        semmetrics.score(preds, [["cat"], ["dog"]], measures="F1", task="labels")
    assert error.value.where == place


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
        shown = fields - {None, "opt", "fix"}
        shown = shown - {"setting"} | {"name", "value"} if "setting" in shown else shown
        assert shown <= given, f"{path.name}:{node.lineno}: {code}"


def test_options_of_measures_have_no_flags():
    with pytest.raises(InputError) as caught:
        parse("F1(empty=2)")
    assert "empty='2'" in caught.value.text(flag)
