"""Messages: their texts, the fields in them, and how errors print them."""

from __future__ import annotations

import ast
import pickle
import re
import string
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from refusals import refused

import semmetrics
from semmetrics import parse
from semmetrics.errors import InputError
from semmetrics.messages import Message, catalog, plural, pluralize, write_message
from semmetrics.messages.catalog import MESSAGES
from semmetrics.options import flag

# ---- texts --------------------------------------------------------------------------------------


def test_every_code_is_in_one_topic():
    # given the messages of each topic
    codes = []
    for topic in catalog.TOPICS:
        codes += topic.MESSAGES
    # then no code is repeated, and the catalog has all of them
    assert sorted(codes) == sorted(MESSAGES)


_NAMES = ("BagSim", "JSON", "Java", "METEOR", "Maven", "NumPy", "PyTorch", "SPICE")
_NAMES += ("Williams",)
"""Words with a capital letter with which problems begin."""


def test_every_message_is_a_problem_and_a_remedy_in_sentences():
    wrong = []
    for code, (problem, remedy) in MESSAGES.items():
        # the problem follows a place, and a full stop follows the problem
        is_phrase = problem[0].islower() or problem.startswith(("{", "'", *_NAMES))
        ends_open = not problem.endswith((".", ";", ","))
        # the remedy consists of sentences
        has_sentences = not remedy or remedy.endswith((".", "?", "}"))
        if not (is_phrase and ends_open and has_sentences) or "; " in problem + remedy:
            wrong.append(code)
    assert wrong == []


def test_messages_write_options_as_the_caller_does():
    with_flags = []
    for code, message in MESSAGES.items():
        # given a message without its commands and parentheses
        text = re.sub(r"`[^`]*`|\([^)]*\)", "", " ".join(message))
        # then it names no flag, because callers from Python have none
        if re.search(r"(?<!\S)--", text):
            with_flags.append(code)
    assert with_flags == []


def _raised_with_code():
    """Yield the code, the call and the file of every error and note with a literal code."""
    for path in sorted(Path(semmetrics.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_error = isinstance(node, ast.Call) and getattr(node.func, "id", "") in (
                "InputError",
                "UnknownKeyError",
            )
            if is_error and node.args and isinstance(node.args[0], ast.Constant):
                yield node.args[0].value, node, path


def test_every_error_has_the_values_that_its_message_shows():
    for code, call, path in _raised_with_code():
        keywords = {keyword.arg for keyword in call.keywords}
        if code not in MESSAGES or None in keywords:
            continue  # values in a mapping are known only when the error is raised
        needed = set()
        for _, name, spec, _ in string.Formatter().parse(" ".join(MESSAGES[code])):
            if name and not (spec or "").startswith("else "):
                needed.add(name)
        if "setting" in needed:
            needed |= {"name", "value"}
        computed = {"opt", "setting", "suggestion"}
        assert needed - computed <= keywords, f"{path.name}:{call.lineno}: {code}"


def test_importing_the_package_loads_no_texts():
    # given a new process
    script = (
        "import sys, semmetrics.errors, semmetrics.messages;"
        "print([name for name in sys.modules if 'messages.topics' in name])"
    )
    # when modules that write messages are imported
    output = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    # then the texts are not loaded
    assert output.stdout.strip() == "[]"


# ---- fields -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "value", "text"),
    [
        ("{x}", "a", "a"),
        ("{x!r}", "a", "'a'"),
        ("{x:list}", list("abcdefg"), "'a', 'b', 'c', 'd', 'e' and 2 more"),
        ("{x:unquoted}", ["a", 3], "a, 3"),
        ("{x:or}", ["a", "b", "c"], "a, b or c"),
        ("{x:or}", ["a"], "a"),
        ("{x:such as}", ["a"], ", such as 'a'"),
        ("{x:such as}", [], ""),
        ("{x:type}", 3, "an int"),
        ("{x:type}", None, "null"),
        ("{x:plural}", "query", "queries"),
        ("{x:sentence}", "check the path", "Check the path."),
        ("{x:sentence}", "did you mean F1?", "Did you mean F1?"),
        ("{x:sentence}", "k=1 is enough", "k=1 is enough."),
        ("{x:item}", 1, "1 item"),
        ("{x:item}", 2000, "2,000 items"),
        ("{x:item}", "1", "1 item"),
        ("{x:item}", (2, 5), "2 to 5 items"),
        ("{x:,}", (2, 5000), "2 to 5,000"),
        ("{x:.2f}", 0.5, "0.50"),
        ("{x:options}", "ids missing", "--ids, --missing"),
        ("{x:option names}", "ids missing", "--ids, --missing"),
        ("{x:or set}", "format", ", or set --input-format"),
        ("{x:or set}", "", ""),
        ("{x:else Remove it.}", "Sort it.", "Sort it."),
        ("{y:else Remove it.}", "", "Remove it."),
        ("{opt:missing}", "", "--missing"),
        ("{opt:missing=skip}", "", "--missing skip"),
        ("{opt:ids={x}}", "a", "--ids a"),
    ],
)
def test_fields_of_messages(field, value, text):
    assert write_message(Message(field), {"x": value}, flag) == text


@pytest.mark.parametrize("field", ["{y}", "{y!r}", "{y:item}"])
def test_a_missing_value_is_an_error(field):
    with pytest.raises(KeyError, match="y"):
        write_message(Message(field), {"x": 1})


@pytest.mark.parametrize(
    ("noun", "many"),
    [
        ("key", "keys"),
        ("category", "categories"),
        ("class", "classes"),
        ("box", "boxes"),
        ("match", "matches"),
        ("survey", "surveys"),
        ("image id", "image ids"),
        ("y", "ys"),
    ],
)
def test_plurals(noun, many):
    assert plural(noun) == many
    assert pluralize(1, noun) == f"1 {noun}"


# ---- errors -------------------------------------------------------------------------------------


def test_an_error_is_a_place_a_problem_and_a_remedy():
    # given an error with a place
    error = InputError("empty", "gt.csv, line 2", role="the id", remedy="fill it in")
    # then its parts can be read separately, also after it was pickled
    for copy in (error, pickle.loads(pickle.dumps(error))):
        assert copy.problem == "the id is empty"
        assert copy.remedy == "Fill it in."
        assert str(copy) == "gt.csv, line 2: the id is empty. Fill it in."


@pytest.mark.parametrize("value", [float("nan"), float("inf"), b"x", 0.5, "x", None])
def test_a_wrong_value_is_written_as_in_python(value):
    error = InputError("bad-option", name="level", value=value, wanted="a number")

    assert str(error) == f"level={value!r} is not valid. Expected a number."


def test_options_of_measures_have_no_flags():
    # given an option in the name of a measure
    with refused("bad-choice") as caught:
        parse("F1(empty=2)")
    # then the command line does not print it as a flag
    assert "empty='2'" in caught.value.text(flag)


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
def test_all_numbers_of_a_place_start_at_0_or_at_1(preds, place):
    with pytest.raises(InputError) as caught:
        semmetrics.score(preds, [["cat"], ["dog"]], measures="F1", task="labels")
    assert caught.value.where == place
