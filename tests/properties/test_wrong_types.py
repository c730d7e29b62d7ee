"""Every public function says what it refuses: wrong types for every parameter of all of them.

The signatures are walked, so a new function, method or option is covered when it comes. A parameter
without a default whose name is not known here needs a line in `GOOD`, a function with other needs
one in `OWN`.
"""

import inspect
import io
import math
import re
from pathlib import Path

import numpy as np
import pytest

import semmetrics
from semmetrics.errors import InputError
from semmetrics.options import OPTIONS

ONE_HOT, SCORES = [[1, 0], [1, 1]], [[0.9, 0.2], [0.4, 0.6]]
RELATION = [0, 1, 2], [1, 0]
LABELS = {"a": ["cat", "dog"], "b": ["bus"]}
GOOD = {
    "preds": LABELS, "gts": LABELS, "systems": {"one": LABELS, "two": LABELS}, "data": LABELS,
    "pred": ONE_HOT, "ref": ONE_HOT, "targets": ONE_HOT, "scores": SCORES,
    "captions": ["a cat sleeps", "a red bus"], "k": 1, "text": "F1", "n_labels": 3, "name": "F1",
    "key": "F1",
    "columns": {"id": ["a"]},
    "rows": [{"id": "a"}],
    "references": [["a cat is asleep", "a grey cat"], ["a bus in the rain", "the red bus"]],
    "indptr": [0, 1, 3], "codes": [0, 0, 1], "ks": [1, 2],
    "definition": semmetrics.parse("F1")[0].definition,
    "pairs": [("car", "automobile", 1), ("bike", "bicycle", 1), ("car", "tree", 0)],
    "form": "csv", "scale": 100.0, "problem": "it is wrong", "package": "pandas", "purpose": "this",
    "extra": "report", "documents": 3, "counts": {("a",): 2},
    "similarities": SCORES, "phi": SCORES, "top": [[0, 1], [1, 0]], "m": 1,
    "images": [[1], [0]], "n_captions": 2, "i2t": SCORES, "t2i": SCORES,
    "relevant": RELATION, "positive": [0.5], "negative_caption": [0.25], "negative_image": [0.25],
    "truth": [0, 1], "seen": [0], "unseen": [1],
    "margins": ([0.5], [0.5]), "ratings": [("a", "b", 1.0), ("b", "a", 0.5)],
}  # fmt: skip
# Records that functions return; nobody makes them by hand, and the annotations say their fields.
MADE = (
    semmetrics.Calibration, semmetrics.DocumentFrequencies, semmetrics.Score,
    semmetrics.ScoreTable, semmetrics.ThresholdSweep, semmetrics.Measure,
    semmetrics.DiscrepancySelection, semmetrics.CompetitionRanking,
    semmetrics.ComparisonTable, semmetrics.Ranking, semmetrics.AgreementTable,
    InputError, semmetrics.MissingDependencyError,
)  # fmt: skip
# What readers read: their messages say the place in the input, which may be long.
READ = {"preds", "gts", "ratings", "data", "systems", "datasets", "captions", "references", "pairs"}
SAID = {"set_size_probs": "cardinality matrix", "classes": "class list", "counts": "is no n-gram"}
WRONG = {
    "None": lambda: None, "5": lambda: 5, "-1": lambda: -1, "True": lambda: True,
    "1.5": lambda: 1.5, "x": lambda: "x", "bytes": lambda: b"x", "list": list, "dict": dict,
    "tuple": tuple, "object": object, "nan": lambda: math.nan, "huge": lambda: 10**30,
    "path": lambda: Path("no/such/file"), "generator": lambda: (x for x in ()),
    "class": lambda: int, "objects": lambda: [object()], "mapping": lambda: {object(): object()},
    "array": lambda: np.zeros((2, 2, 2)), "texts": lambda: ["x"], "numbers": lambda: [1, 2],
}  # fmt: skip


# Methods that only this package calls.
WITHIN = {"of", "weights", "formula", "family", "printed_scale"}
# Good values of some methods, beside `GOOD`.
METHODS = {
    "to_dict": {"measure": "F1"}, "write": {"out": io.StringIO()}, "save": {"path": "saved.json"},
    "load": {"path": "saved.json"}, "used": {"ids": ["a"]}, "column": {"name": "id", "role": "id"},
    "from_rows": {"columns": ["id"]},
    "differences": {"first": "VOC", "second": "COCO"},
    "check_tokens": {"tokenizer": "ptb", "stem": "none"},
}  # fmt: skip


def scored():
    return semmetrics.score(LABELS, LABELS, measures=["F1", "SemF1"], ci=True, resamples=10)


RATED = [{"id": id, "rating": rating} for id, rating in (("a", 3), ("b", 1))]
ANSWERS = {"a": {"1": "a cat"}, "b": {"1": "a dog"}}


def selected():
    return semmetrics.select_discrepant(ANSWERS, 1)


def ranked():
    return semmetrics.rank_competition(selected(), {"1": ["a cat"]}, measures="ROUGE-L")


def own():
    """Good values of some functions, beside `GOOD`."""
    table = scored()
    return {
        "semmetrics.rank_systems": {"datasets": {"VOC": table}, "measure": "F1"},
        "semmetrics.rescore": {"signature": table["F1"].signature},
        "semmetrics.fit_document_frequencies": {"captions": GOOD["references"]},
        "semmetrics.as_captions": {"data": GOOD["captions"]},
        "semmetrics.calibrate_threshold": {"holdout": 1},
        "semmetrics.correlate": {"phi": {"a": ["b"], "c": []}},
        "semmetrics.compare": {"gts": LABELS},
        "semmetrics.meta": {"ratings": RATED, "preds": LABELS, "gts": LABELS},
        "semmetrics.select_discrepant": {"systems": ANSWERS, "k": 1},
        "semmetrics.add_systems": {
            "selection": selected(),
            "systems": {**ANSWERS, "c": {"1": "x"}},
        },
        "semmetrics.rank_competition": {
            "selection": selected(),
            "references": {"1": ["a cat"]},
            "measures": "ROUGE-L",
        },
        "semmetrics.rank_dominance": {"dominance": [[1, 2], [0.5, 1]]},
        "semmetrics.write_annotation_page": {"sheet": selected().sheet()},
    }


def parameters(function):
    found = inspect.signature(function).parameters.values()
    return [p for p in found if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def needed(function, more):
    """Good values of the parameters that a function needs."""
    names = [p.name for p in parameters(function) if p.default is p.empty]
    known = GOOD | more
    lacking = [name for name in names if name not in known]
    assert not lacking, f"{function} needs {lacking}: write good values into GOOD"
    return {name: known[name] for name in names} | more


def functions():
    for name in semmetrics.__all__:
        value = getattr(semmetrics, name)
        if callable(value) and value not in MADE and name not in ("measure", "parse"):
            yield f"semmetrics.{name}", value


def names(message, name, value):
    """Whether a message says which argument is wrong, or shows the text or number that is."""
    plain = isinstance(value, str | int | float | Path) and str(value) in message
    if isinstance(value, list) and value:
        return names(message, name, value[0])
    words = (name, name.removesuffix("s"), SAID.get(name, name))
    return name in READ or plain or any(word in message for word in words)


def complaint(function, given, name, value):
    """What is wrong with how a function takes a wrong value; None where it is right."""
    try:
        known = {**given, name: value}
        names_first = [p.name for p in parameters(function) if p.kind is p.POSITIONAL_ONLY]
        first = [known.pop(one) for one in names_first if one in known]
        found = function(*first, **known)
        if inspect.isgenerator(found):
            next(found, None)
    except InputError as error:
        return None if names(str(error), name, value) else f"does not name it: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def check(label, function, more):
    wrong = []
    for parameter in parameters(function):
        for kind, make in WRONG.items():
            said = complaint(function, needed(function, more), parameter.name, make())
            if said is not None:
                wrong.append(f"{parameter.name}={kind}: {said}")
    assert not wrong, f"{len(wrong)} of {label}:\n" + "\n".join(wrong)


FUNCTIONS = dict(functions())


@pytest.mark.parametrize("label", FUNCTIONS)
def test_wrong_types_are_refused_by_name(label, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check(label, FUNCTIONS[label], own().get(label, {}))


def objects():
    """One object of each public class, and of those that their methods return."""
    table = scored()
    sweep = semmetrics.sweep(LABELS, LABELS, thresholds=[0.3, 0.5])
    frequencies = semmetrics.fit_document_frequencies(GOOD["references"])
    calibration = semmetrics.calibrate_threshold_on_pairs(GOOD["pairs"])
    ranks = semmetrics.rank_systems({"VOC": table, "COCO": table}, "F1")
    rank = ranks[0]
    pair = {"one": LABELS, "two": {"a": ["cat"], "b": []}}
    compared = semmetrics.compare(pair, LABELS, measures="F1", resamples=5)
    judged = semmetrics.meta(RATED, LABELS, LABELS, measures="F1", resamples=5)
    score = table["F1"]
    return [table, score, score.replicates, score.ci, score.measure, score.measure.definition,
            table.per_item(), sweep, frequencies, calibration, rank, semmetrics.ReadOptions(),
            semmetrics.Bootstrap(), selected(), ranked(), ranks, compared, compared[0], judged,
            judged[0]]  # fmt: skip


OBJECTS = {type(one).__name__: one for one in objects()}


@pytest.mark.parametrize("label", OBJECTS)
def test_wrong_types_are_refused_by_the_methods_of(label, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if hasattr(OBJECTS[label], "save"):
        OBJECTS[label].save("saved.json")  # for load
    for name in dir(OBJECTS[label]):
        method = getattr(OBJECTS[label], name)
        module = getattr(method, "__module__", None) or ""
        ours = inspect.isroutine(method) and module.startswith("semmetrics.")
        if ours and not name.startswith("_") and name not in WITHIN:
            known = {p.name for p in parameters(method)}
            more = {n: value for n, value in METHODS.get(name, {}).items() if n in known}
            check(f"{label}.{name}", method, more)


ZERO_D = np.array(1)


@pytest.mark.parametrize(
    "call",
    [
        lambda: semmetrics.score([["a"]], [["a"]], measures=ZERO_D),
        lambda: semmetrics.fit_document_frequencies(ZERO_D),
        lambda: semmetrics.calibrate_threshold_on_pairs(ZERO_D),
        lambda: semmetrics.caption_matrix(ZERO_D, ZERO_D),
        lambda: semmetrics.rank_systems({"x": []}, " "),
    ],
)
def test_an_array_without_axes_is_no_list(call):
    with pytest.raises(semmetrics.InputError):
        call()


NAMES = [
    (label, parameter.name)
    for label, function in FUNCTIONS.items()
    for parameter in parameters(function)
    if re.search(rf'^ *{parameter.name} : \{{"', inspect.getdoc(function) or "", re.MULTILINE)
    and parameter.default is not None
]


@pytest.mark.parametrize(("label", "name"), NAMES, ids=map(".".join, NAMES))
def test_none_for_a_name_is_told_which_names_there_are(label, name):
    function = FUNCTIONS[label]
    listed = re.search(rf"\b{name} : \{{(.*?)\}}", function.__doc__, re.DOTALL)[1]
    with pytest.raises(semmetrics.InputError, match=rf"{name}=None; give ") as caught:
        function(**{**needed(function, own().get(label, {})), name: None})
    assert set(re.findall(r"'([^']+)'", str(caught.value))) == set(re.findall(r'"([^"]+)"', listed))


CHOSEN = [name for name, one in OPTIONS.items() if one.choices and name != "tokenizer"]  # object


@pytest.mark.parametrize("name", CHOSEN)
def test_what_is_no_name_is_told_which_names_there_are(name):
    with pytest.raises(semmetrics.InputError) as caught:
        semmetrics.score(LABELS, LABELS, **{name: 3})
    assert all(choice in str(caught.value) for choice in OPTIONS[name].choices)
