"""Parses by functions and by the user's tuples, and their cache."""

import pytest
from refusals import refused

from semmetrics.errors import InputError
from semmetrics.text.official_parser import OfficialParser
from semmetrics.text.parses import CachingParser, FunctionParser, open_parser
from semmetrics.text.tuple_tables import TupleTable


def words(captions):
    """Parse each word as an object."""
    return [[(word,) for word in caption.split()] for caption in captions]


words.version = "1"


@pytest.mark.parametrize("name", ["Offline", "x"])
def test_an_unknown_parser_is_an_error(name):
    with refused("unknown-name"):
        open_parser(name)


@pytest.mark.parametrize(
    ("function", "code"),
    [
        (lambda captions: [[]], "wrong-count"),
        (lambda captions: ["dog"] * 2, "wrong-content"),
        (lambda captions: [[("a", 1)]] * 2, "wrong-content"),
        (lambda captions: 1 / 0, "own-code-failed"),
        (lambda captions: None, "own-code-failed"),
    ],
)
def test_a_function_with_a_wrong_result_is_an_error(function, code):
    with refused(code):
        CachingParser(FunctionParser(function)).tuples(["a dog", "a cat"])


@pytest.mark.parametrize("parser", ["official", "given"])
def test_tuples_of_the_official_parser_replace_parsing(parser):
    tuples = {"a dog": [["wolf"]], " ": [["nothing"]]}
    table = TupleTable(
        "t.jsonl", tuples, dict.fromkeys(tuples, OfficialParser.identity)
    )

    parses = open_parser(parser, table).tuples(["a dog", " "])

    assert parses == [[["wolf"]], []]  # a blank caption never has tuples


class Interrupted:
    """Parses that many captions, and is interrupted."""

    identity = "interrupted@1"

    def __init__(self, number):
        self.number = number

    def parse(self, captions):
        for caption in captions[: self.number]:
            yield [[caption]]
        if len(captions) > self.number:
            raise KeyboardInterrupt


def test_parses_before_an_interruption_are_cached(tmp_path):
    file = tmp_path / "p.sqlite"
    captions = [f"caption {number}" for number in range(1000)]
    with pytest.raises(KeyboardInterrupt):
        CachingParser(Interrupted(900), file=file).tuples(captions)

    totals = []
    parser = CachingParser(
        Interrupted(1000), file=file, progress=lambda done, total: totals.append(total)
    )
    parser.tuples(captions)

    assert totals[-1] == 100


def fail(captions):
    raise OSError("no program")


fail.version = "1"


def test_an_error_names_the_first_new_caption_if_others_are_cached():
    parser = FunctionParser(words)
    kept = CachingParser(parser)
    kept.tuples(["a b", "c"])
    object.__setattr__(parser, "function", fail)

    with refused("own-code-failed") as caught:
        kept.tuples(["a b", "c", "d", " "], lambda caption: (f"id '{caption}'", ""))

    assert caught.value.where == "1 new caption, such as 'd' of id 'd'"
    assert caught.value.remedy


def test_an_error_does_not_name_a_caption_if_none_is_cached():
    with refused("own-code-failed", ""):
        CachingParser(FunctionParser(fail)).tuples(["d"])


def test_a_failing_parser_leaves_no_file(tmp_path):
    kept = CachingParser(FunctionParser(fail), file=tmp_path / "p.sqlite")

    with pytest.raises(InputError):
        kept.tuples(["a"])

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["n" * 300, "file"])
def test_an_unusable_cache_folder_is_reported(tmp_path, name):
    (tmp_path / "file").touch()
    kept = CachingParser(FunctionParser(words), file=tmp_path / name / "p.sqlite")

    assert kept.tuples(["a"]) == [[["a"]]]
    assert kept.trouble.code == "cache-unusable"
