"""Every JSON file that a command reads, with each value replaced: exit code 0 or 2, never 1."""

import json

import pytest
from fuzz.commands import CAPTIONS, GT, PREDS, problem_of, runs, selection
from fuzz.documents import wrong_documents

import semmetrics


def calibration():
    result = semmetrics.calibrate_threshold(
        PREDS, GT, holdout=1.0, thresholds=[0.2, 0.6]
    )
    return result.to_dict()


def ratings():
    sheet = selection().sheet(ratings=True, annotators=1)
    return [{**row, "rating": 2} for row in sheet]


def scores():
    systems = {"A": PREDS, "B": GT}
    table = semmetrics.score_systems(systems, GT, measures=["O-F1"], ci=True)
    return table.to_dicts()


FREQUENCIES = {
    "documents": 3,
    "frequencies": {"a": 2, "a cat": 1},
    "tokenizer": "ptb",
    "stem": "",
}
# A document or a function that returns it, and the command that reads it as x.json.
CASES = {
    "calibration": (calibration, "score -m SemF1 --calibration x.json p.json g.json"),
    "captions": (CAPTIONS, "pairs --top-k 1 -o - x.json r.json"),
    "classes": (
        ["cat", "dog", "cow"],
        "score -m MacroF1 --classes x.json p.json g.json",
    ),
    "converted frequencies": (FREQUENCIES, "doc-freq --convert -o y.npz x.json"),
    "frequencies": (FREQUENCIES, "score -m CIDEr-D --doc-freq x.json c.json r.json"),
    "graded judgements": (
        {"a": {"b": 2, "c": 0}, "b": {"c": 1}},
        "score --task retrieval -m nDCG@2 --missing skip p.csv x.json",
    ),
    "long values": (
        [
            {"dataset": "d", "system": "A", "value": 0.5},
            {"dataset": "d", "system": "B", "value": 0.5},
        ],
        "rank --table x.json",
    ),
    "pairs": (
        [{"a": "cat", "b": "dog", "same": False}] * 2,
        "calibrate --pairs x.json",
    ),
    "predictions": (
        {"a": {"cat": 0.5}, "b": {"dog": 0.1}, "c": {}, "d": {}},
        "score -m F1 x.json g.json",
    ),
    "ranked runs": (runs, "rank x.json runs.json"),
    "ratings": (ratings, "mad rank --ratings x.json state.json"),
    "ratings of pairs": ([["a", "b", 1.5], ["a", "c", 0]], "correlate x.json p.csv"),
    "records": ([{"id": "a", "labels": ["cat"], "scores": [0.5]}], "validate x.json"),
    "relation": ({"a": ["b", "d"], "b": []}, "correlate p.csv x.json"),
    "runs": (runs, "compare --table x.json --table runs.json"),
    "scores": (scores, "rank x.json"),
    "scores of another measure": (scores, "rank -m F1 x.json"),
    "scores of pairs": ([{"a": "a", "b": "b", "score": 1.5}], "correlate p.csv x.json"),
    "scores of two": (scores, "rank --format json x.json p.json"),
    "sheet": (
        lambda: list(selection().sheet()),
        "mad rank --references x.json state.json",
    ),
    "state": (
        lambda: json.loads(selection().to_json()),
        "mad rank -m ROUGE-L --references r.json x.json",
    ),
    "taxonomy": (
        {"cat": "animal", "dog": ["animal"], "animal": []},
        "score -m hF --taxonomy x.json p.json g.json",
    ),
    "values": (
        [{"data": str(n), "A": 0.5, "B": n / 9} for n in (1, 2, 3)],
        "compare --table x.json",
    ),
    "votes": (
        [{"image_id": "a", "annotator": "1", "caption": "a cat", "keep": "yes"}],
        "mad inspect -o y.csv x.json",
    ),
    "weights": (
        dict.fromkeys(GT, 2.0),
        "score -m F1 --weights x.json p.json g.json",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_wrong_documents_are_read_or_raise_an_input_error(folder, name, sample):
    document, command = CASES[name]
    if callable(document):
        document = document()

    problems = []
    for change, text in sample(wrong_documents(document)):
        (folder / "x.json").write_text(text)
        problem = problem_of(command.split())
        if problem:
            problems.append(f"{change}: {problem}")

    assert not problems, "\n".join(problems[:20])
