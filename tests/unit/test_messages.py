"""Messages: plurals follow their numbers."""

import ast
import re
from itertools import pairwise
from pathlib import Path

import pytest

import semmetrics
from semmetrics.errors import agreeing, pluralize

SOURCES = sorted(Path(semmetrics.__file__).parent.rglob("*.py"))


def written(path):
    """The texts in braces and outside of a module: each f-string as a list of its parts."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            yield node.values


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


def test_a_number_that_may_be_one_is_written_by_pluralize():
    wrong = []
    for path in SOURCES:
        for parts in written(path):
            for number, text in pairwise(parts):
                if not isinstance(number, ast.FormattedValue) or not isinstance(text, ast.Constant):
                    continue
                shown = ast.unparse(number.value)
                if NOUNS.match(text.value) and shown not in NEVER_ONE:
                    wrong.append(f"{path.name}:{number.lineno}: {{{shown}}}{text.value}")
    assert not wrong, "\n".join(wrong)


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
        "1 caption is empty, in the item 'a'",
        "1 caption is in more than one item: 'a cat sits'",
        "1 caption has blanks around it: ' a dog'",
        "1 caption has control characters: 'a\\x07bell'",
    ],
)
def test_one_caption_is_no_captions(line):
    assert line in semmetrics.validate(ONE_CAPTION, task="captions")["odd"]
