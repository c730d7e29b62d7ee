"""What SPICE lacks: a measure that is not computed under a protocol, and otherwise an error."""

import sys
import zipfile
from importlib.util import find_spec

import pytest
from refusals import refused

import semmetrics
from semmetrics.errors import InputError, MissingDependencyError
from semmetrics.text import java, synonyms
from semmetrics.text.official_parser import OfficialParser
from semmetrics.text.tuple_tables import TupleTable

PREDS = {"a": ["a dog runs"], "b": ["two cats sit"]}
REFS = {"a": ["a big dog runs", "the dog is on grass"], "b": ["cats"]}
TOKENS = [text for side in (PREDS, REFS) for texts in side.values() for text in texts]
EVERY = {text: [[word] for word in text.split()] for text in TOKENS}
SOME = {text: EVERY[text] for text in TOKENS[:3]}
LEFT_OUT = InputError("damaged-package", why="left out")
WORDS = ("synonym/english.synsets", "synonym/english.exceptions")


def official(tuples):
    return TupleTable("t.jsonl", tuples, dict.fromkeys(tuples, OfficialParser.identity))


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """Nothing is kept, CoreNLP is not there, synonyms are read anew, and METEOR is left out."""

    def left_out(name):
        raise LEFT_OUT

    monkeypatch.setattr("semmetrics.metrics.meteor.read_list", left_out)
    monkeypatch.setenv("SEMMETRICS_HOME", str(tmp_path / "home"))
    caches = (synonyms.open_synonyms, synonyms.category_words)
    for one in caches:
        one.cache_clear()
    yield
    for one in caches:
        one.cache_clear()


def lacking(tuples=None):
    """Return why a protocol does not compute SPICE, and the error of the measure."""
    table = semmetrics.score(PREDS, REFS, protocol="coco-caption", tuples=tuples)
    (reason,) = (one.reason for one in table.not_computed if one.heading == "SPICE")
    assert table["CIDEr"].n == 2
    assert not any("tuples=" in note for note in table.notes)
    with pytest.raises(InputError) as caught:
        semmetrics.score(PREDS, REFS, measures="SPICE", tuples=tuples)
    assert str(caught.value) == reason
    assert caught.value.remedy
    return caught.value


@pytest.mark.parametrize("tuples", [None, official(EVERY), official(SOME), EVERY])
def test_without_pycocoevalcap(monkeypatch, tuples):
    monkeypatch.setattr("semmetrics.text.java.find_spec", lambda name: None)
    error = lacking(tuples)
    assert isinstance(error, MissingDependencyError)
    assert "SPICE needs the package pycocoevalcap. Run `pip install" in str(error)


@pytest.mark.parametrize(
    "error", [ModuleNotFoundError("no"), ValueError("no __spec__")]
)
def test_with_an_importer_that_refuses_the_package(monkeypatch, error):
    class Refusing:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] == "pycocoevalcap":
                raise error

    monkeypatch.setattr(sys, "meta_path", [Refusing(), *sys.meta_path])
    monkeypatch.delitem(sys.modules, "pycocoevalcap", raising=False)
    assert isinstance(lacking(official(EVERY)), MissingDependencyError)


@pytest.fixture
def jars(tmp_path, monkeypatch):
    """A package pycocoevalcap with jars of ours; damages one when called."""
    folder = tmp_path / "site" / "spice"
    (folder / "lib").mkdir(parents=True)
    for jar, names in (
        ("spice-1.0.jar", ["edu/anu/spice/TupleFilter.class"]),
        ("lib/Meteor-1.5.jar", WORDS),
    ):
        with zipfile.ZipFile(folder / jar, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in names:
                archive.writestr(name, "".join(f"{n} {n * n}\n" for n in range(3000)))

    def damage(jar, place):
        data = bytearray((folder / jar).read_bytes())
        data[place : place + 40] = b"\xff" * 40
        (folder / jar).write_bytes(data)

    monkeypatch.setattr(java.JavaProgram, "folder_of_files", lambda self: folder)
    return damage


@pytest.mark.parametrize(
    ("jar", "place"),
    [
        ("lib/Meteor-1.5.jar", 500),
        ("lib/Meteor-1.5.jar", -60),
        ("spice-1.0.jar", 900),
    ],
)
def test_with_damaged_jars(jars, jar, place):
    jars(jar, place)
    assert lacking(official(EVERY)).code == "damaged-package"


# ---- pycocoevalcap is there, and something else is not ------------------------------------------

needs_words = pytest.mark.skipif(
    not find_spec("pycocoevalcap"), reason="its words are needed"
)


@needs_words
def test_without_java(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert lacking().code == "needs-java"


@needs_words
def test_a_function_beside_the_official_parser():
    error = lacking(
        lambda captions: [[(word,) for word in one.split()] for one in captions]
    )
    assert error.code == "tuples-function"
    assert error.remedy == "SPICE(parser=given) takes tuples of any parser."


@needs_words
@pytest.mark.parametrize(
    ("given", "asked"), [("tokens", "written"), ("written", "tokens")]
)
def test_official_tuples_of_the_other_form(given, asked):
    texts = {"tokens": "a dog", "written": "A dog."}
    tuples = official({texts[given]: [["dog"]]})
    measure = f"SPICE(captions={asked})"
    with refused("tuples-lack") as caught:
        semmetrics.score(
            {"a": "A dog."}, {"a": ["A dog."]}, measures=measure, tuples=tuples
        )
    form = "captions as they are written" if given == "written" else "tokens"
    wanted = (
        f"Write captions={given} in the measure, because the tuples are for {form}."
    )
    assert caught.value.remedy == wanted


@needs_words
@pytest.mark.parametrize("parser", ["official", "given"])
def test_pairs_of_tuples_of_the_other_form(parser):
    tuples = official({"a dog": [["dog"]], "a cat": [["cat"]]})
    measure = f"SPICE(parser={parser},captions=written)"
    sides = {"references": [["A dog."], ["A cat."]], "captions": ["A cat."]}
    with refused("tuples-lack" if parser == "official" else "captions-fail") as caught:
        semmetrics.caption_matrix(**sides, measure=measure, tuples=tuples)
    assert caught.value.remedy.startswith("Write captions=tokens in the measure")
    assert "id " not in caught.value.where
    with refused("no-matrix"):
        semmetrics.caption_matrix(**sides, measure="SPICE(category=color)")


@needs_words
def test_a_comparison_says_what_was_not_computed():
    systems = {"one": PREDS, "two": {"a": ["a dog"], "b": ["cats"]}}
    options = {"protocol": "coco-caption", "tuples": official(SOME), "resamples": 50}
    found = semmetrics.compare(systems, REFS, **options)
    (reason,) = (
        one.reason for one in found.scores.not_computed if one.heading == "SPICE"
    )
    said = [f"not computed: METEOR - {LEFT_OUT}", f"not computed: SPICE - {reason}"]
    assert found.sentences()[-2:] == said
    assert str(found).endswith("\n".join(said))
    assert said[1] in found._repr_html_().replace("&#x27;", "'").replace("&quot;", '"')
    options["ci"] = True
    scored = {
        name: semmetrics.score(one, REFS, **options) for name, one in systems.items()
    }
    assert [one.heading for one in semmetrics.compare(scored).scores.not_computed] == [
        "METEOR",
        "SPICE",
    ]


@needs_words
@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("raise SystemExit('Error: odd')", "status 1: Error: odd"),
        (
            "raise SystemExit('Exception: a\\nCaused by: b\\nCaused by: c')",
            "1: Caused by: c",
        ),
        ("", "did not respond: it exited"),
        (None, "SPICE could not be started: "),
    ],
)
def test_a_program_that_does_not_run(monkeypatch, tmp_path, code, problem):
    command = [str(tmp_path / "none")] if code is None else [sys.executable, "-c", code]
    monkeypatch.setattr(OfficialParser, "_command", lambda self: command)
    assert problem in str(lacking())
    folder = java.jar_folder()
    folder.mkdir(parents=True)
    (folder / "stanford-corenlp-3.6.0-models.jar").write_bytes(b"half")
    error = lacking()
    assert error.code == "wrong-jar"
    assert error.where.endswith("models.jar")
    assert "semmetrics spice setup" in error.remedy
