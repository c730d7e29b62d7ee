"""A folder with small files of all kinds, and commands that run in it."""

from __future__ import annotations

import json

from click.testing import CliRunner

import semmetrics
from semmetrics.cli.app import program
from semmetrics.scoring.runs import draw_runs

PREDS = {"a": ["cat", "dog"], "b": ["dogs"], "c": ["cow"], "d": ["car", "cat"]}
GT = {"a": ["cat"], "b": ["dog"], "c": ["cow"], "d": ["car"]}
CAPTIONS = {"a": "a cat sits", "b": "a dog runs"}
OTHER_CAPTIONS = {"a": "two men talk", "b": "a cat runs"}
REFERENCES = {"a": ["a cat sat", "the cat"], "b": ["the dog runs"]}
PAIRS = "id,other,score\na,b,1\na,c,2\nb,c,0.5\n"


def write_files(folder):
    """Write the files that commands of the fuzzers name."""
    documents = {
        "p.json": PREDS,
        "g.json": GT,
        "c.json": CAPTIONS,
        "r.json": REFERENCES,
        "other.json": OTHER_CAPTIONS,
        "ratings.json": [{"id": id_, "rating": n} for n, id_ in enumerate(GT)],
        "runs.json": runs(),
    }
    for name, document in documents.items():
        (folder / name).write_text(json.dumps(document))
    (folder / "p.csv").write_text(PAIRS)
    (folder / "g.csv").write_text(PAIRS)
    selection().save(folder / "state.json")


def selection():
    """Return the image on which two captioners differ most."""
    systems = {"c": CAPTIONS, "other": OTHER_CAPTIONS}
    return semmetrics.select_discrepant(systems, 1)


def runs():
    """Return the scores of two runs of a system."""
    systems = {"seed 1": PREDS, "seed 2": GT}
    table = semmetrics.score_systems(systems, GT, measures=["O-F1"])
    return json.loads(draw_runs(table, "json"))


def problem_of(arguments):
    """Return what is wrong with the end of a command, or an empty string.

    A command has to end with exit code 0 or 2, without a traceback.
    """
    result = CliRunner().invoke(program, arguments, standalone_mode=False)
    exit_code = result.return_value
    if result.exception is not None:
        exit_code = repr(result.exception)
    if exit_code in (0, 2) and "Traceback" not in result.output:
        return ""
    return f"{exit_code}: {result.output[-300:]}"
