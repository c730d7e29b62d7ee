"""Without its files SPICE is an error, and a protocol does not compute it."""

import sys
import zipfile
from importlib.util import find_spec

import pytest
from refusals import refused
from spice_program import install_program

import semmetrics
from semmetrics.errors import InputError, MissingDependencyError
from semmetrics.text import java, synonyms
from semmetrics.text.java import JavaProgram
from semmetrics.text.official_parser import OfficialParser
from semmetrics.text.tuple_tables import TupleTable

PREDS = {"a": ["a dog runs"], "b": ["two cats sit"]}
REFS = {"a": ["a big dog runs", "the dog is on grass"], "b": ["cats"]}
TEXTS = ["a dog runs", "two cats sit", "a big dog runs", "the dog is on grass", "cats"]
TUPLES = {text: [[word] for word in text.split()] for text in TEXTS}

needs_words = pytest.mark.skipif(
    not find_spec("pycocoevalcap"), reason="pycocoevalcap has the synonyms"
)


def official(tuples):
    parsers = dict.fromkeys(tuples, OfficialParser.identity)
    return TupleTable("t.jsonl", tuples, parsers)


@pytest.fixture(autouse=True)
def no_caches(tmp_path, monkeypatch):
    """Cache nothing, read the synonyms anew, and leave METEOR out."""

    def fail(name):
        raise InputError("damaged-package", why="left out")

    monkeypatch.setattr("semmetrics.metrics.meteor.read_list", fail)
    monkeypatch.setenv("SEMMETRICS_HOME", str(tmp_path / "home"))
    synonyms.open_synonyms.cache_clear()
    synonyms.category_words.cache_clear()
    yield
    synonyms.open_synonyms.cache_clear()
    synonyms.category_words.cache_clear()


def reason_of_spice(table):
    (reason,) = [e.reason for e in table.not_computed if e.heading == "SPICE"]
    return reason


def spice_error(tuples=None):
    """Return the error of SPICE, after a check that a protocol computes the rest."""
    table = semmetrics.score(PREDS, REFS, protocol="coco-caption", tuples=tuples)
    with pytest.raises(InputError) as caught:
        semmetrics.score(PREDS, REFS, measures="SPICE", tuples=tuples)

    assert table["CIDEr"].n == 2
    assert reason_of_spice(table) == str(caught.value)
    assert caught.value.remedy
    return caught.value


@pytest.mark.parametrize("tuples", [None, official(TUPLES), TUPLES])
def test_spice_needs_pycocoevalcap_with_any_tuples(monkeypatch, tuples):
    monkeypatch.setattr("semmetrics.text.java.find_spec", lambda name: None)

    assert isinstance(spice_error(tuples), MissingDependencyError)


@pytest.mark.parametrize(
    "error", [ModuleNotFoundError("no"), ValueError("no __spec__")]
)
def test_an_importer_may_fail_on_the_package(monkeypatch, error):
    class Importer:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] == "pycocoevalcap":
                raise error

    monkeypatch.setattr(sys, "meta_path", [Importer(), *sys.meta_path])
    monkeypatch.delitem(sys.modules, "pycocoevalcap", raising=False)

    assert isinstance(spice_error(official(TUPLES)), MissingDependencyError)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("lib/Meteor-1.5.jar", 500),
        ("lib/Meteor-1.5.jar", -60),
        ("spice-1.0.jar", 900),
    ],
)
def test_a_damaged_jar_is_an_error(tmp_path, monkeypatch, name, place):
    (tmp_path / "lib").mkdir()
    members = {
        "spice-1.0.jar": ["edu/anu/spice/TupleFilter.class"],
        "lib/Meteor-1.5.jar": ["synonym/english.synsets", "synonym/english.exceptions"],
    }
    content = "".join(f"{number} {number * number}\n" for number in range(3000))
    for jar, names in members.items():
        with zipfile.ZipFile(tmp_path / jar, "w", zipfile.ZIP_DEFLATED) as archive:
            for member in names:
                archive.writestr(member, content)
    damaged = bytearray((tmp_path / name).read_bytes())
    damaged[place : place + 40] = b"\xff" * 40
    (tmp_path / name).write_bytes(damaged)
    monkeypatch.setattr(JavaProgram, "folder_of_files", lambda self: tmp_path)

    assert spice_error(official(TUPLES)).code == "damaged-package"


@needs_words
def test_missing_java_is_an_error(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)

    assert spice_error().code == "needs-java"


@needs_words
def test_a_function_does_not_replace_the_official_parser():
    def parse(captions):
        return [[(word,) for word in caption.split()] for caption in captions]

    error = spice_error(parse)

    assert error.code == "tuples-function"
    assert "SPICE(parser=given)" in error.remedy


@needs_words
@pytest.mark.parametrize(
    ("caption", "requested", "given"),
    [("a dog", "written", "tokens"), ("A dog.", "tokens", "written")],
)
def test_tuples_of_the_other_form_are_an_error_with_a_remedy(caption, requested, given):
    with refused("tuples-lack") as caught:
        semmetrics.score(
            {"a": "A dog."},
            {"a": ["A dog."]},
            measures=f"SPICE(captions={requested})",
            tuples=official({caption: [["dog"]]}),
        )

    assert caught.value.remedy.startswith(f"Write captions={given} in the measure")


@needs_words
@pytest.mark.parametrize(
    ("parser", "code"), [("official", "tuples-lack"), ("given", "captions-fail")]
)
def test_a_matrix_needs_tuples_of_its_form(parser, code):
    with refused(code) as caught:
        semmetrics.caption_matrix(
            [["A dog."], ["A cat."]],
            ["A cat."],
            measure=f"SPICE(parser={parser},captions=written)",
            tuples=official({"a dog": [["dog"]], "a cat": [["cat"]]}),
        )

    assert "Write captions=tokens in" in caught.value.remedy
    assert "id " not in caught.value.where


@needs_words
def test_a_comparison_reports_what_was_not_computed():
    tuples = official({text: TUPLES[text] for text in TEXTS[:3]})
    options = {"protocol": "coco-caption", "tuples": tuples, "resamples": 50}
    systems = {"first": PREDS, "second": {"a": ["a dog"], "b": ["cats"]}}

    comparison = semmetrics.compare(systems, REFS, **options)

    reason = reason_of_spice(comparison.scores)
    sentence = f"not computed: SPICE - {reason}"
    assert comparison.sentences()[-1] == sentence
    assert str(comparison).endswith(sentence)
    scored = {}
    for name, preds in systems.items():
        scored[name] = semmetrics.score(preds, REFS, ci=True, **options)
    not_computed = semmetrics.compare(scored).scores.not_computed
    assert [entry.heading for entry in not_computed] == ["METEOR", "SPICE"]


@needs_words
@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("raise SystemExit('Error: odd')", "status 1: Error: odd"),
        (
            "raise SystemExit('Exception: a\\nCaused by: b\\nCaused by: c')",
            "status 1: Caused by: c",
        ),
        ("", "it exited"),
    ],
)
def test_a_program_that_fails_is_an_error(monkeypatch, tmp_path, code, why):
    install_program(monkeypatch, tmp_path, code)

    error = spice_error()

    assert error.code == "no-answer"
    assert error.values["why"] == why


@needs_words
def test_a_damaged_file_of_corenlp_is_an_error(monkeypatch, tmp_path):
    install_program(monkeypatch, tmp_path, "")
    jar = java.jar_paths()[0]
    jar.write_bytes(b"half")

    error = spice_error()

    assert error.code == "wrong-jar"
    assert error.where == str(jar)
