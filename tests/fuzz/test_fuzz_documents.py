"""Every JSON file that a command reads, with every value replaced: exit code 0 or 2, never 1."""

import json

import pytest
from click.testing import CliRunner
from fuzz.documents import wrong_documents

import semmetrics
from semmetrics.cli.app import program
from semmetrics.scoring.runs import draw_runs

PREDS = {"a": ["cat", "dog"], "b": ["dogs"], "c": ["cow"], "d": ["car", "cat"]}
GT = {"a": ["cat"], "b": ["dog"], "c": ["cow"], "d": ["car"]}
CAPTIONS = {"a": "a cat sits", "b": "a dog runs"}
OTHERS = {"a": "two men talk", "b": "a cat runs"}
REFERENCES = {"a": ["a cat sat", "the cat"], "b": ["the dog runs"]}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    named = {"p": PREDS, "g": GT, "c": CAPTIONS, "r": REFERENCES, "other": OTHERS}
    for name, value in named.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(value))
    for name in "pg":
        (tmp_path / f"{name}.csv").write_text("id,other,score\na,b,1\na,c,2\nb,c,0.5\n")
    rated = [{"id": name, "rating": rating} for rating, name in enumerate(GT)]
    (tmp_path / "ratings.json").write_text(json.dumps(rated))
    state().save(tmp_path / "state.json")
    (tmp_path / "runs.json").write_text(json.dumps(runs()))
    return tmp_path


def calibration():
    return semmetrics.calibrate_threshold(
        PREDS, GT, holdout=1.0, thresholds=[0.2, 0.6]
    ).to_dict()


def state():
    return semmetrics.select_discrepant({"c": CAPTIONS, "other": OTHERS}, 1)


def ratings():
    return [{**row, "rating": 2} for row in state().sheet(ratings=True, annotators=1)]


def scores():
    table = semmetrics.score_systems(
        {"A": PREDS, "B": GT}, GT, measures=["O-F1"], ci=True
    )
    return table.to_dicts()


def runs():
    table = semmetrics.score_systems(
        {"seed 1": PREDS, "seed 2": GT}, GT, measures=["O-F1"]
    )
    return json.loads(draw_runs(table, "json"))


def frequencies():
    return {
        "documents": 3,
        "frequencies": {"a": 2, "a cat": 1},
        "tokenizer": "ptb",
        "stem": "",
    }


# What is read, and the arguments of the command that reads it.
DOCUMENTS = {
    "calibration": (calibration, "score -m SemF1 --calibration x.json p.json g.json"),
    "scores": (scores, "rank x.json"),
    "scores of two": (scores, "rank --format json x.json p.json"),
    "scores of another measure": (scores, "rank -m F1 x.json"),
    "frequencies": (frequencies, "score -m CIDEr-D --doc-freq x.json c.json r.json"),
    "converted frequencies": (frequencies, "doc-freq --convert -o y.npz x.json"),
    "taxonomy": (
        lambda: {"cat": "animal", "dog": ["animal"], "animal": []},
        "score -m hF --taxonomy x.json p.json g.json",
    ),
    "weights": (
        lambda: dict.fromkeys(GT, 2.0),
        "score -m F1 --weights x.json p.json g.json",
    ),
    "classes": (
        lambda: ["cat", "dog", "cow"],
        "score -m MacroF1 --classes x.json p.json g.json",
    ),
    "predictions": (
        lambda: {"a": {"cat": 0.5}, "b": {"dog": 0.1}, "c": {}, "d": {}},
        "score -m F1 x.json g.json",
    ),
    "records": (
        lambda: [{"id": "a", "labels": ["cat"], "scores": [0.5]}],
        "validate x.json",
    ),
    "pairs": (
        lambda: [{"a": "cat", "b": "dog", "same": False}] * 2,
        "calibrate --pairs x.json",
    ),
    "state": (
        lambda: json.loads(state().to_json()),
        "mad rank -m ROUGE-L --references r.json x.json",
    ),
    "ratings": (ratings, "mad rank --ratings x.json state.json"),
    "sheet": (lambda: list(state().sheet()), "mad rank --references x.json state.json"),
    "votes": (
        lambda: [
            {"image_id": "a", "annotator": "1", "caption": "a cat", "keep": "yes"}
        ],
        "mad inspect -o y.csv x.json",
    ),
    "values": (
        lambda: [{"data": str(n), "A": 0.5, "B": n / 9} for n in (1, 2, 3)],
        "compare --table x.json",
    ),
    "long values": (
        lambda: [{"dataset": "d", "system": s, "value": 0.5} for s in "AB"],
        "rank --table x.json",
    ),
    "runs": (runs, "compare --table x.json --table runs.json"),
    "ranked runs": (runs, "rank x.json runs.json"),
    "graded judgements": (
        lambda: {"a": {"b": 2, "c": 0}, "b": {"c": 1}},
        "score --task retrieval -m nDCG@2 --missing skip p.csv x.json",
    ),
    "captions": (lambda: CAPTIONS, "pairs --top-k 1 -o - x.json r.json"),
    "ratings of pairs": (
        lambda: [["a", "b", 1.5], ["a", "c", 0]],
        "correlate x.json p.csv",
    ),
    "scores of pairs": (
        lambda: [{"a": "a", "b": "b", "score": 1.5}],
        "correlate p.csv x.json",
    ),
    "relation": (lambda: {"a": ["b", "d"], "b": []}, "correlate p.csv x.json"),
}


def problem_of(args):
    """Say what is wrong with how a command ended; "" where nothing is."""
    found = CliRunner().invoke(program, args, standalone_mode=False)
    code = found.return_value if found.exception is None else repr(found.exception)
    if code in (0, 2) and "Traceback" not in found.output:
        return ""
    return f"{code}: {found.output[-300:]}"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_wrong_documents_are_refused_or_read(folder, name, some_of):
    make, command = DOCUMENTS[name]
    wrong = []
    for what, text in some_of(wrong_documents(make())):
        (folder / "x.json").write_text(text)
        problem = problem_of(command.split())
        if problem:
            wrong.append(f"{what}: {problem}")
    assert not wrong, "\n".join(wrong[:20])
