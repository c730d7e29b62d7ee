"""Messages: numbers and plurals, options by both their names, positions with their base."""

import ast
import math
import re
import string
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
from refusals import refused

import semmetrics
from semmetrics.errors import FROM_0, InputError
from semmetrics.messages import MESSAGES, agreeing, pluralize

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

# What is never one: what is said only of several, of limits, and of a damaged model of our own.
NEVER_ONE = {
    "_MOST", "of", "max_bytes", "self.limit", "limit", "times", "max_pairs", "len(several)",
    "len(points)", "len(hits)", "len(found)", "len(problems)", "len(some)", "len(table.systems)",
    "order", "brief(documents)", "sample.words", "number", "need", "known", "length", "mean",
    "len(same)", "len(mine)", "len(files)", "numbers", "SIDES[side]", "len(table)", "len(entries)",
    "dimension",
}  # fmt: skip
NOUNS = re.compile(
    r" (words|times|files|values|runs|images|items|weights|columns|ids|rows|classes|cells|texts|"
    r"numbers|lines|lists|captions|labels|segments|codes|pairs|terms|documents|measures|"
    r"thresholds|arrays|candidates|systems|vectors|entries|references|keys)\b"
)


def test_plurals():
    assert [pluralize(n, "entry", "do") for n in (0, 1, 2)] == [
        "0 entries do", "1 entry does", "2 entries do",
    ]  # fmt: skip
    assert [agreeing(1, verb) for verb in ("are", "were", "repeat")] == ["is", "was", "repeats"]
    assert pluralize(1, "class") == "1 class"


ONE_CAPTION = {"a": ["", "a cat sits"], "b": [" a dog", "a cat sits"], "c": ["a\x07bell", "a cow"]}


@pytest.mark.parametrize(
    "line",
    [
        "1 empty caption in 1 item: 'a'",
        "1 caption in more than one item: 'a cat sits'",
        "1 caption with blanks around: ' a dog'",
        "1 caption with invisible characters: 'a\\x07bell'",
    ],
)
def test_one_caption_is_no_captions(line):
    assert line in semmetrics.validate(ONE_CAPTION, task="captions")["odd"]


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
    if re.search("semmetrics |^run: |on the command line $", before):
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


def test_flags_that_messages_name_exist():
    import click

    from semmetrics.cli.app import COMMANDS as PROGRAMS
    from semmetrics.cli.app import program

    def flags(command):
        for parameter in command.params:
            yield from parameter.opts
        for name in getattr(command, "commands", {}):
            yield from flags(command.commands[name])

    context = click.Context(program)
    known = {"--help", "--format"}
    for name in PROGRAMS:
        known.update(flags(program.get_command(context, name)))
    named = {flag for path in BELOW_CLI for _, text in texts(path) for flag in FLAG.findall(text)}
    assert named - known == {"--force-reinstall", "--upgrade"}  # of pip


def test_what_is_not_computed_names_keywords():
    lists = {"a": ["cat"], "b": ["dog"]}
    table = semmetrics.score(lists, lists, protocol="kubany2020")
    reasons = {one.heading: one.reason for one in table.not_computed}
    assert reasons["Balanced Accuracy@1"].endswith("give the class list, classes= (--classes)")
    assert reasons["F1 (Semantic)@1"].endswith(": embedding= (--embedding FILE)")
    assert reasons["Fine-Tuned BERT@1"].endswith(
        ": embedding={'bert-base-nli-stsb-wkpooling': 'sbert:bert-base-nli-stsb-wkpooling'} "
        "(--embedding bert-base-nli-stsb-wkpooling=sbert:bert-base-nli-stsb-wkpooling)"
    )
    scored = {"a": {"cat": 0.9, "dog": 0.2}}
    (note,) = semmetrics.score(scored, {"a": ["cat"]}, measures="F1").notes
    assert "set threshold=0.5, decode= or a cutoff (F1@3)" in note


# ---- positions -----------------------------------------------------------------------------------

POSITION = re.compile(
    r"\b(item|row|element|pair|caption|reference|image|class|link|vector|text|entry|query|number|"
    r"index|byte|label|column) \{\}"
)
NAMES = {  # in place of positions
    "column {}", "{}, column {}",
    "there is no column {}: found {}", "the records have no column {}", "{}, one row {}: {}",
    ", in the entry {}",
    "image {}", "{}, image {}", "gts, image {}", "res, image {}", "the entry {}",
    "the caption {} is a text, not its tokens", "the caption {} is no text",
    "the caption {} stands twice, with different tuples",
    "the parser {}, caption {}",
}  # fmt: skip
ELSEWHERE = {  # the base is written by what completes the text
    "caption {}", "reference {} of image {}", "the weight of item {}{} is {}",
    "the id {} is also in row {}",
}  # fmt: skip
# of texts, as editors count, and of the words of a file
FROM_1 = {"line {}, column {}"}


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


def test_positions_in_other_messages():
    with refused("other-length"):
        semmetrics.score([["cat"]], [["cat"], ["dog"]], measures="F1")
    with refused("out-of-range"):
        semmetrics.score([["a"], ["b"]], [["a"], ["b"]], measures="F1", weights=[1, math.nan])
    with refused("no-weights"):
        semmetrics.score([["a"], ["b"]], [["a"], ["b"]], measures="F1", weights={"0": 1})
    with refused("wrong-type"):
        semmetrics.calibrate_threshold_on_pairs([("a", "b", 1), 3])
    assert semmetrics.validate([["a", "a"], []])["odd"] == [
        "1 of 2 items without labels: 1 (from 0)",
        "1 of 2 items with a repeated label: 0 (from 0)",
    ]


def test_generated_ids_are_the_positions_of_messages():
    table = semmetrics.score([["a"], ["b"]], [["a"], ["c"]], measures="F1")
    assert [row["id"] for row in table.per_item()] == [0, 1]


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
        shown = {
            field for text in MESSAGES[code] for _, field, _, _ in string.Formatter().parse(text)
        } - {None, "opt"}
        shown = shown - {"setting"} | {"name", "value"} if "setting" in shown else shown
        assert shown <= given, f"{path.name}:{node.lineno}: {code}"
