"""State files: a stored file of the schema, and files that are damaged or forged."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from batches import save, save_and_load, signatures, update_with, values
from refusals import refused

import semmetrics
from semmetrics import Bootstrap, ReadOptions, Scorer
from semmetrics.scoring.scorer_state import SCHEMA, checksum_of
from semmetrics.scoring.state_records import Record
from semmetrics.scoring.state_values import ValueWriter, can_hold

FOLDER = Path(__file__).parent
PREDS = {"a": ["couch", "cat"], "b": ["dog"], "c": ["sofa", "xq zz"], "d": ["cat"]}
GTS = {"a": ["sofa"], "b": ["cat"], "c": ["couch", "dog"], "d": ["cat", "dog"]}
OPTIONS = {
    "measures": ["F1", "MacroF1", "SemF1", "HammingLoss"],
    "classes": ["cat", "dog", "couch", "sofa", "xq zz"],
    "embedding": {"couch": [1, 0, 0], "sofa": [0.9, 0.1, 0], "cat": [0, 1, 0]},
    "read": ReadOptions(label_delimiter=";"),
    "ci": Bootstrap(resamples=20, method="poisson"),
}


def scorer_of(ids):
    scorer = Scorer(keep_rows=False, **OPTIONS)
    for name in ids:
        update_with(scorer, PREDS, GTS, [name])
    return scorer


def read_arrays(state):
    with np.load(state) as arrays:
        return dict(arrays)


def write_arrays(arrays):
    """Return a file with the arrays of a state and the right checksum."""
    arrays = {name: array for name, array in arrays.items() if name != "checksum"}
    state = io.BytesIO()
    np.savez_compressed(state, checksum=checksum_of(arrays), **arrays)
    return state


# ---- stored files -------------------------------------------------------------------------------


def test_a_stored_state_gives_the_scores_of_one_call_and_takes_new_items():
    """The file has the sums of the items a and b, written when the schema was introduced."""
    path = FOLDER / "states" / f"{SCHEMA.replace('/', '-')}.state"
    document = json.loads(read_arrays(path)["state"].tobytes())
    if document["version"] != semmetrics.__version__:
        with refused("other-version"):
            Scorer.load(path)
        return

    scorer = Scorer.load(path)
    update_with(scorer, PREDS, GTS, "c")
    update_with(scorer, PREDS, GTS, "d")

    table = scorer.compute()
    whole = scorer_of("abcd").compute()
    assert values(table) == values(whole)
    assert signatures(table) == signatures(whole)
    assert [score.ci for score in table] == [score.ci for score in whole]


@pytest.mark.parametrize("name", ["default-1", "given-words-1"])
def test_a_state_of_an_earlier_version_raises_an_error_that_names_it(name):
    with refused("other-version", by="semmetrics 0.2.0.dev0 (semmetrics.state/2)"):
        Scorer.load(FOLDER / "earlier" / f"{name}.state")


def test_options_of_every_type_are_the_same_after_saving_twice(tmp_path):
    path = tmp_path / "part.state"
    scorer_of("ab").save(path)
    loaded = save_and_load(Scorer.load(path))

    both = loaded + scorer_of("cd")

    assert values(both.compute()) == values(scorer_of("abcd").compute())


# ---- damaged files ------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.01, 0.5, 0.99])
def test_a_truncated_file_raises_an_error(share):
    state = save(scorer_of("ab")).getvalue()
    part = state[: int(share * len(state))]

    with refused("damaged"):
        Scorer.load(io.BytesIO(part))


@pytest.mark.parametrize("content", [b"PK\x03", b"{}"])
def test_another_file_is_not_a_state(content):
    with refused("no-state"):
        Scorer.load(io.BytesIO(content))


def test_a_changed_array_does_not_have_the_checksum():
    arrays = read_arrays(save(scorer_of("ab")))
    arrays["0"] = arrays["0"] + 1
    changed = io.BytesIO()
    np.savez_compressed(changed, **arrays)

    with refused("damaged", why="the checksum differs"):
        Scorer.load(changed)


@pytest.mark.parametrize("text", [b"[]", b"{}", b"no"])
def test_a_document_without_a_schema_is_damaged(text):
    state = write_arrays({"state": np.frombuffer(text, np.uint8)})

    with refused("damaged"):
        Scorer.load(state)


def test_a_state_of_another_version_raises_an_error(monkeypatch):
    state = save(scorer_of("ab"))
    monkeypatch.setattr("semmetrics.scoring.scorer_state.__version__", "99.0")

    with refused("other-version"):
        Scorer.load(state)


# ---- forged files -------------------------------------------------------------------------------


def load_forged(change):
    """Load a state whose document was changed, with the right checksum."""
    arrays = read_arrays(save(scorer_of("ab")))
    document = json.loads(arrays["state"].tobytes())
    change(document, arrays)
    arrays["state"] = np.frombuffer(json.dumps(document).encode(), np.uint8)
    return Scorer.load(write_arrays(arrays))


SYSTEM = ("systems", 0)
STATISTICS = (*SYSTEM, "parts", 0, "statistics")
NOTE = {"code": "no-parents", "n": 1, "where": "", "values": {}}


def get_field(document, path):
    """Return the field of a document at a path."""
    field = document
    for key in path:
        field = field[key]
    return field


def nested(depth):
    """Return lists in lists."""
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("kind",), 3),
        (("systems",), {}),
        ((*SYSTEM, "preds"), None),
        ((*SYSTEM, "preds", "n_items"), "2"),
        ((*SYSTEM, "preds", "only_ones"), 1),
        ((*SYSTEM, "gts", "columns"), [3]),
        ((*SYSTEM, "measures", "measures", 0, "name"), "F1@1,2"),
        ((*SYSTEM, "sample", 0, "codes"), 10**6),
        ((*SYSTEM, "sample", 0, "vocabulary"), []),
        (("options", "measures"), [{"measure": {"name": "F1"}}]),
        ((*SYSTEM, "preds", "n_items"), -1),
        ((*SYSTEM, "preds", "forms"), ["numbers"]),
        ((*SYSTEM, "preds", "precisions"), ["int8"]),
        ((*SYSTEM, "gts", "order"), "falling"),
        ((*SYSTEM, "measures", "headings"), []),
        ((*SYSTEM, "measures", "measures", 0, "name"), "F7"),
        ((*SYSTEM, "sample", 0, "precision"), "float8"),
        ((*SYSTEM, "loaded_parts", 0, "fingerprint"), "xyz"),
        ((*SYSTEM, "counts_of_parts"), {"": {"weight_0": 1.5}}),
        ((*SYSTEM, "notes"), [{"code": "no-such-note"}]),
        ((*STATISTICS, "fingerprint"), "0" * 17),
        ((*STATISTICS, "n_listed"), 99),
        ((*STATISTICS, "observations", "counts"), [{"key": [], "n": 1}]),
        ((*STATISTICS, "sums", 0), {"value": {"shape": [2], "integers": []}}),
        (("options", "measures"), {"code": "print()"}),
        (("options", "read"), {"read": {"no_such_option": 1}}),
        (("options", "classes"), {"array": 10**6}),
        (("options", "classes"), {"range": [0, 10**12, 1]}),
        (("options", "classes"), {"range": [0, 10**30, 1]}),
        (("options", "classes"), nested(200)),
        (("options", "classes"), nested(900)),
        ((*SYSTEM, "notes"), [{**NOTE, "examples": {"range": [0, 10**12, 1]}}]),
        ((*SYSTEM, "notes"), [{**NOTE, "examples": "abc"}]),
        ((*SYSTEM, "preds", "n_items"), 2**63),
        ((*SYSTEM, "counts_of_parts"), {"": {"weight_0": -1}}),
        ((*STATISTICS, "observations", "counts"), [{"key": [{"range": [2]}], "n": 1}]),
        (
            (*STATISTICS, "observations", "counts"),
            [{"key": ["scores", {"set": []}], "n": 1}],
        ),
        (("options", "measures"), 0),
        (("options", "measures"), [None]),
        (("options", "no_such_option"), 1),
        ((*STATISTICS, "labels"), ["cat", "cat", "couch", "sofa", "dog"]),
        ((*STATISTICS, "n"), 3),
        ((*STATISTICS, "ignored"), {"mapping": [["cat", [-1, 0]]]}),
        ((*SYSTEM, "counts_of_parts"), {}),
        ((*SYSTEM, "measures"), None),
    ],
)
def test_a_wrong_field_is_damaged(path, value):
    def set_field(document, arrays):
        *parents, name = path
        get_field(document, parents)[name] = value

    with refused("damaged"):
        load_forged(set_field)


@pytest.mark.parametrize(
    "path",
    [
        (*STATISTICS, "sums"),
        (*STATISTICS, "labels"),
        (*SYSTEM, "sample"),
        (*SYSTEM, "parts", 0, "fitted"),
        (*SYSTEM, "measures", "measures"),
    ],
)
def test_a_list_that_is_too_short_is_damaged(path):
    def shorten(document, arrays):
        get_field(document, path).pop()

    with refused("damaged"):
        load_forged(shorten)


@pytest.mark.parametrize("path", [("systems",), (*SYSTEM, "parts")])
def test_an_object_that_is_repeated_is_damaged(path):
    def repeat(document, arrays):
        objects = get_field(document, path)
        objects.append(objects[0])

    with refused("damaged"):
        load_forged(repeat)


@pytest.mark.parametrize("side", ["n_reference", "n_prediction"])
def test_a_negative_count_of_a_label_is_damaged(side):
    def negate(document, arrays):
        number = get_field(document, (*STATISTICS, side))
        arrays[str(number)] = -1 - arrays[str(number)]

    with refused("damaged", why=f"{side} has a negative count"):
        load_forged(negate)


def test_an_array_that_is_too_long_is_damaged():
    def lengthen(document, arrays):
        number = get_field(document, (*STATISTICS, "n_reference"))
        arrays[str(number)] = np.zeros(9, np.int64)

    with refused("damaged"):
        load_forged(lengthen)


COLUMNS = [
    (("sums", 0), "value"),
    (("sums", 0), "cause"),
    (("sums", 1), "hit"),
    (("sums", 1), "n_pred"),
    (("sums", 1), "n_ref"),
    (("sums", 1), "items"),
    (("resamples", 0), "cause"),
    (("resamples", 1), "hit"),
    (("resamples", 1), "items"),
]
"""Columns of the mean of F1 over items, and of counts by label."""
CHANGES = {
    "negative": lambda column: -1 - column,
    "short": lambda column: column[:-1],
    "long": lambda column: np.concatenate([column, column]),
    "another axis": lambda column: column[None],
    "scalar": lambda column: np.array(5),
    "pair": lambda column: np.array([1, 1]),
    "not finite": lambda column: np.full(column.shape, np.inf),
}


def change_column(document, arrays, place, name, change):
    """Replace the array of a column."""
    columns = get_field(document, (*STATISTICS, *place))
    number = str(len(arrays))
    column = arrays[str(columns[name])]
    arrays[number] = CHANGES[change](column)
    columns[name] = int(number)


@pytest.mark.parametrize(("place", "name"), COLUMNS)
def test_a_column_that_is_missing_is_damaged(place, name):
    def remove(document, arrays):
        del get_field(document, (*STATISTICS, *place))[name]

    with refused("damaged"):
        load_forged(remove)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(
    ("place", "name"),
    [column for column in COLUMNS if column[1] not in ("value", "items")],
)
def test_a_column_of_wrong_numbers_is_damaged(place, name, change):
    def forge(document, arrays):
        change_column(document, arrays, place, name, change)

    with refused("damaged"):
        load_forged(forge)


@pytest.mark.parametrize("change", ["negative", "another axis", "scalar", "pair"])
@pytest.mark.parametrize("place", [("sums", 1), ("resamples", 1)])
def test_a_number_of_items_that_is_wrong_is_damaged(place, change):
    def forge(document, arrays):
        change_column(document, arrays, place, "items", change)

    with refused("damaged"):
        load_forged(forge)


@pytest.mark.parametrize(
    "value",
    [
        {"shape": [2], "integers": ["1", "1"]},
        {"shape": [1], "integers": ["1"]},
        {"shape": [-1], "integers": ["-1"]},
    ],
)
@pytest.mark.parametrize("name", ["value", "cause"])
def test_integers_of_a_wrong_shape_are_damaged(name, value):
    def forge(document, arrays):
        get_field(document, (*STATISTICS, "sums", 0))[name] = value

    with refused("damaged"):
        load_forged(forge)


@pytest.mark.parametrize(
    "value", ["", "poisson", "poisson,19,0", "poisson,x,0", "percentile,20,0"]
)
def test_a_wrong_description_of_resamples_is_damaged(value):
    def forge(document, arrays):
        get_field(document, STATISTICS)["resampled"] = value

    with refused("damaged"):
        load_forged(forge)


def test_a_column_that_only_resamples_have_is_damaged():
    def add(document, arrays):
        columns = get_field(document, (*STATISTICS, "resamples", 0))
        columns["another"] = columns["cause"]

    with refused("damaged"):
        load_forged(add)


def test_a_document_with_many_brackets_is_damaged():
    text = b"[" * 200_000 + b"]" * 200_000

    with refused("damaged", why="its JSON is nested too deeply"):
        Scorer.load(write_arrays({"state": np.frombuffer(text, np.uint8)}))


@pytest.mark.parametrize("value", [nested(200), range(10**9)])
def test_a_value_that_no_state_can_contain_is_not_written(value):
    assert not can_hold(value)


@pytest.mark.parametrize("value", [nested(50), range(1000), {"a": {"b": ("c", {1})}}])
def test_a_nested_value_is_the_same_after_it_was_written_and_read(value):
    written = ValueWriter().value(value)

    assert Record({"field": written}, "state", {}).value("field") == value
