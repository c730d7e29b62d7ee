"""State files: stored files of each schema version, forged files, and options in states."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from refusals import refused

import semmetrics
from semmetrics import Bootstrap, ReadOptions, Scorer, score
from semmetrics.scoring import scorer_state
from semmetrics.scoring.scorer_state import SCHEMA

STATES = Path(__file__).parent / "states"
PREDS = {"a": ["couch", "cat"], "b": ["dog"], "c": ["sofa", "xq zz"], "d": ["cat"]}
GTS = {"a": ["sofa"], "b": ["cat"], "c": ["couch", "dog"], "d": ["cat", "dog"]}
OPTIONS = {
    "measures": ["F1", "MacroF1", "SemF1", "HammingLoss"],
    "classes": ["cat", "dog", "couch", "sofa", "xq zz"],
    "embedding": {"couch": [1, 0, 0], "sofa": [0.9, 0.1, 0], "cat": [0, 1, 0]},
    "read": ReadOptions(label_delimiter=";"),
    "ci": Bootstrap(resamples=20, method="poisson"),
}


def scorer_of(ids, **options):
    scorer = Scorer(**(options or OPTIONS), keep_rows=False)
    for id_ in ids:
        scorer.update({id_: PREDS[id_]}, {id_: GTS[id_]})
    return scorer


def saved(scorer, **given):
    target = io.BytesIO()
    scorer.save(target, **given)
    target.seek(0)
    return target


def values(table):
    return [(one.value, one.ci.low, one.ci.high, one.signature) for one in table]


# ---- stored files -------------------------------------------------------------------------------


def stored_files():
    return sorted(STATES.glob("*.state"))


def test_there_is_a_stored_file_of_the_schema():
    assert f"{SCHEMA.replace('/', '-')}.state" in [path.name for path in stored_files()]


@pytest.mark.parametrize("path", stored_files(), ids=lambda path: path.stem)
def test_a_stored_file_gives_the_scores_of_one_call_and_takes_new_items(path):
    # given the sums of the items a and b, written when the schema was introduced
    version = json.loads(document_of(path.read_bytes()))["version"]
    if version != semmetrics.__version__:
        with refused("other-version"):
            Scorer.load(path)
        return
    scorer = Scorer.load(path)
    # when the other items are added
    for id_ in "cd":
        scorer.update({id_: PREDS[id_]}, {id_: GTS[id_]})
    # then the scores are those of all items
    assert values(scorer.compute()) == values(scorer_of("abcd").compute())


def document_of(content):
    with np.load(io.BytesIO(content)) as arrays:
        return arrays["state"].tobytes()


# ---- forged files -------------------------------------------------------------------------------


def forged(change):
    """A state whose document was changed, with the right checksum."""
    content = saved(scorer_of("ab"))
    with np.load(content) as found:
        arrays = dict(found)
    document = json.loads(arrays["state"].tobytes())
    change(document, arrays)
    arrays["state"] = np.frombuffer(json.dumps(document).encode(), np.uint8)
    del arrays["checksum"]
    arrays["checksum"] = scorer_state.checksum_of(arrays)
    target = io.BytesIO()
    np.savez_compressed(target, **arrays)
    return target


def part_of(document):
    return document["systems"][0]["parts"][0]


def set_field(path, value):
    """A change of one field of the document."""

    def change(document, arrays):
        owner = document
        for key in path[:-1]:
            owner = owner[key]
        owner[path[-1]] = value

    return change


def drop_sums(document, arrays):
    part_of(document)["statistics"]["sums"].pop()


def shorten_labels(document, arrays):
    part_of(document)["statistics"]["labels"].pop()


def lengthen_array(document, arrays):
    number = part_of(document)["statistics"]["n_reference"]
    arrays[str(number)] = np.zeros(9, np.int64)


SYSTEM = ("systems", 0)
STATISTICS = (*SYSTEM, "parts", 0, "statistics")


@pytest.mark.parametrize(
    "change",
    [
        set_field(("kind",), 3),
        set_field(("systems",), {}),
        set_field((*SYSTEM, "preds"), None),
        set_field((*SYSTEM, "preds", "n_items"), -1),
        set_field((*SYSTEM, "preds", "n_items"), "2"),
        set_field((*SYSTEM, "preds", "forms"), ["numbers"]),
        set_field((*SYSTEM, "preds", "only_ones"), 1),
        set_field((*SYSTEM, "preds", "precisions"), ["int8"]),
        set_field((*SYSTEM, "gts", "columns"), [3]),
        set_field((*SYSTEM, "gts", "order"), "falling"),
        set_field((*SYSTEM, "measures", "headings"), []),
        set_field((*SYSTEM, "measures", "measures", 0, "name"), "F7"),
        set_field((*SYSTEM, "measures", "measures", 0, "name"), "F1@1,2"),
        set_field((*SYSTEM, "sample", 0, "codes"), 10**6),
        set_field((*SYSTEM, "sample", 0, "vocabulary"), []),
        set_field((*SYSTEM, "sample", 0, "precision"), "float8"),
        set_field((*SYSTEM, "loaded_parts", 0, "fingerprint"), "xyz"),
        set_field((*SYSTEM, "counts_of_parts"), {"": {"weight_0": 1.5}}),
        set_field((*SYSTEM, "notes"), [{"code": "no-such-note"}]),
        set_field((*STATISTICS, "fingerprint"), "0" * 17),
        set_field((*STATISTICS, "n_listed"), 99),
        set_field((*STATISTICS, "settings"), {"missing": None}),
        set_field((*STATISTICS, "observations", "counts"), [{"key": [], "n": 1}]),
        set_field((*STATISTICS, "sums", 0), {"value": {"shape": [2], "integers": []}}),
        set_field(("options", "measures"), {"code": "print()"}),
        set_field(("options", "measures"), [{"measure": {"name": "F1"}}]),
        set_field(("options", "read"), {"read": {"no_such_option": 1}}),
        set_field(("options", "classes"), {"array": 10**6}),
        drop_sums,
        shorten_labels,
        lengthen_array,
    ],
)
def test_a_forged_state_is_an_error_that_names_the_field(change):
    with refused("damaged"):
        Scorer.load(forged(change))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 and no more", b"{}"])
def test_other_files_are_not_states(content):
    with pytest.raises(semmetrics.InputError) as error:
        Scorer.load(io.BytesIO(content))
    assert error.value.code in ("no-state", "damaged", "empty-file")


def test_a_changed_byte_is_found_by_thechecksum_of():
    with np.load(saved(scorer_of("ab"))) as found:
        arrays = dict(found)
    arrays["0"] = arrays["0"] + 1
    target = io.BytesIO()
    np.savez_compressed(target, **arrays)
    with refused("damaged", why="the checksum differs"):
        Scorer.load(target)


# ---- options ------------------------------------------------------------------------------------


def test_options_are_the_same_after_a_state_was_loaded():
    # given a scorer whose options have values of several types
    scorer = scorer_of("ab")
    # when its state is loaded and saved again
    loaded = Scorer.load(saved(Scorer.load(saved(scorer))))
    # then it can be merged with a new scorer of the same options
    assert values((loaded + scorer_of("cd")).compute()) == values(
        scorer_of("abcd").compute()
    )


def test_a_state_has_a_hash_of_an_option_that_no_file_can_contain():
    def embed(texts):
        return [[len(text), 1.0] for text in texts]

    scorer = scorer_of("ab", measures=["BagSim"], embedding=embed)
    loaded = Scorer.load(saved(scorer))
    with refused("not-in-a-state", value="embedding"):
        loaded.update({"c": PREDS["c"]}, {"c": GTS["c"]})
    whole = score(
        {i: PREDS[i] for i in "ab"},
        {i: GTS[i] for i in "ab"},
        measures=["BagSim"],
        embedding=embed,
    )
    assert [one.value for one in loaded.compute()] == [one.value for one in whole]
