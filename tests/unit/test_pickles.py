"""Tables, scores and measures in pickles and copies, of every registered measure."""

import copy
import functools
import pickle

import pytest
from stand_ins import meteor_programs

import semmetrics
from semmetrics.errors import MissingDependencyError
from semmetrics.metrics import measure_table

LABELS = {"a": {"cat": 0.5, "dog": 0.2}, "b": {"dog": 0.1}, "c": {"cow": 0.3}}
GT = {"a": ["cat"], "b": ["dog"], "c": ["cat", "dog"]}
CAPTIONS = {"a": "a cat sits", "b": "a dog"}
REFERENCES = {"a": ["a cat sat", "the cat"], "b": ["a dog runs"]}
OPTIONS = {
    "labels": {
        "taxonomy": dict.fromkeys(["cat", "dog", "cow"], "animal"),
        "classes": ["cat", "dog", "cow"],
    },
    "captions": {},
    "retrieval": {
        "direction": "both",
        "phi": [[2, 1, 0], [0, 3, 1]],
        "queries": ["a", "b"],
        "gallery": ["x", "y", "z"],
    },
    "classes": {"classes": ["x", "y", "z"], "seen": ["x", "y"], "unseen": ["z"]},
}
DATA = {
    "labels": (LABELS, GT),
    "captions": (CAPTIONS, REFERENCES),
    "retrieval": ([[0.5, 0.2, 0.1], [0.3, 0.1, 0.4]], {"a": ["x", "y"], "b": ["z"]}),
    "classes": ([[0.5, 0.2, 0.1], [0.3, 0.1, 0.4]], ["x", "z"]),
}
SPELLED = {
    "BalancedAccuracy": "BalancedAccuracy(q=3)",
    "FBeta": "FBeta(beta=2)",
    "NCS": "NCS@2",
    "nDCG": "nDCG@2",
    "SR": "SR(m=2)@2",
    "SPICE": "SPICE(parser=offline)",
    "SPIDEr": "SPIDEr(parser=offline)",
    "Soft-SPICE": "Soft-SPICE(parser=offline)",
}
COPIES = {
    "pickle": lambda one: pickle.loads(pickle.dumps(one)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}
MEASURES = list(measure_table.ROWS)


@functools.cache
def scored(kind, name):
    data = DATA[kind]
    spelled = SPELLED.get(name, name)
    try:
        with meteor_programs():
            return semmetrics.score_systems(
                {"s": data[0], "t": data[0]},
                data[1],
                measures=[spelled],
                task=kind,
                **OPTIONS[kind],
            )
    except MissingDependencyError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize(("kind", "name"), MEASURES)
def test_a_table_of_every_measure(kind, name, how):
    table = scored(kind, name)
    made = COPIES[how](table)
    assert made.to_json() == table.to_json()
    assert str(made) == str(table)
    for one, other in zip(made.scores, table.scores, strict=True):
        assert COPIES[how](one).to_dict() == other.to_dict()
        assert one.measure == other.measure
    try:
        records = table.per_item()
    except semmetrics.InputError:
        return  # a measure without values of items
    assert made.per_item().to_csv() == records.to_csv()
