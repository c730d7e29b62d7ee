"""PASCAL-50S and the MATLAB files that it consists of."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused
from scipy.io import loadmat, savemat

import semmetrics
from semmetrics.data.judgement_files import read_judgements
from semmetrics.data.mat_files import read_mat
from semmetrics.data.source import load
from semmetrics.errors import InputError

VOTES = [[1, 1, 1, -1], [1, 1, 1, 1], [-1, -1, -1, 1], [1, -1, 1, -1]]


def string(value):
    return np.array([value])


def cell(value):
    """Return a cell array with one string."""
    array = np.empty((1, 1), object)
    array[0, 0] = string(value)
    return array


def write_pascal(folder, votes=VOTES):
    """Write four pairs, one of each category, with four references and votes each."""
    pairs = np.empty((1, 4), [("image", object), ("a", object), ("b", object)])
    names = ("reference", "b", "c", "vote")
    triplets = np.empty((1, 16), [(name, object) for name in names])
    for i in range(4):
        dog = f"a dog runs {i} "
        cat = f"the cat sleeps {i}"
        pairs[0, i] = (string(f"2008_{i % 2}.jpg"), string(dog), string(cat))
        for j in range(4):
            vote = np.array([[votes[i][j]]])
            reference = cell(f"dog number {j} runs {i}")
            triplets[0, 4 * i + j] = (reference, cell(dog), cell(cat), vote)
    categories = {
        "category": np.array([[1, 2, 3, 4]]),
        "new_data": np.array([[6, 6], [6, 7], [2, 6], [1, 2]]),
    }
    savemat(folder / "pair_pascal.mat", {"new_input": pairs, **categories})
    savemat(folder / "consensus_pascal.mat", {"triplets": triplets})
    return folder


# ---- PASCAL-50S ---------------------------------------------------------------------------------


def test_pairs_have_the_majority_of_votes_and_a_category(tmp_path):
    judgements = read_judgements(write_pascal(tmp_path), seed=1)

    assert judgements.groups == ["HC", "HI", "HM", "MM"]
    assert judgements.values.tolist()[:3] == [1, 1, -1]
    assert judgements.values[3] in (1, -1)  # equal votes are decided by chance
    assert judgements.candidates[:2] == ["a dog runs 0", "the cat sleeps 0"]
    assert [(fact.code, fact.n) for fact in judgements.notes] == [("equal-votes", 1)]


def test_both_captions_of_a_pair_have_the_same_references_drawn_by_the_seed(tmp_path):
    folder = write_pascal(tmp_path)

    judgements = read_judgements(folder, draw_references=2, seed=1)
    same = read_judgements(folder / "pair_pascal.mat", draw_references=2, seed=1)

    assert judgements.references[::2] == judgements.references[1::2]
    assert {len(references) for references in judgements.references} == {2}
    assert same.references == judgements.references
    drawn = set()
    for seed in range(20):
        other = read_judgements(folder, draw_references=2, seed=seed)
        drawn.add(other.references[0])
    assert len(drawn) > 1


def test_the_protocol_has_the_accuracy_of_each_category(tmp_path):
    folder = write_pascal(tmp_path, [*VOTES[:3], [1, 1, 1, -1]])

    table = semmetrics.meta(
        folder, protocol="pascal-50s", measures="ROUGE-L", resamples=20
    )

    accuracies = {row.group: row.value for row in table}
    assert accuracies == {"all": 0.75, "HC": 1, "HI": 1, "HM": 0, "MM": 1}
    assert {row.unit for row in table} == {"pair"}


def test_a_vote_that_is_not_1_or_minus_1_raises_an_error(tmp_path):
    folder = write_pascal(tmp_path, votes=[[1, 0, 1, 1]] * 4)

    with refused("not-pascal", place="pair 0 (from 0)"):
        read_judgements(folder)


def test_pairs_with_different_numbers_of_votes_raise_an_error(tmp_path):
    write_pascal(tmp_path)
    votes = loadmat(tmp_path / "consensus_pascal.mat")["triplets"]

    savemat(tmp_path / "consensus_pascal.mat", {"triplets": votes[:, :15]})

    with refused("not-pascal") as error:
        read_judgements(tmp_path)
    assert "4 pairs, 4 categories and 15 votes do not fit" in str(error.value)


def test_a_file_that_is_wrong_or_missing_raises_an_error(tmp_path):
    path = write_pascal(tmp_path) / "consensus_pascal.mat"

    savemat(path, {"other": 1})
    with refused("not-pascal"):
        read_judgements(tmp_path)

    path.write_text("no")
    with refused("damaged"):
        read_judgements(tmp_path)

    path.unlink()
    with refused("missing-file"):
        read_judgements(tmp_path)


# ---- MATLAB files -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["pair_pascal.mat", "consensus_pascal.mat"])
def test_a_file_with_a_changed_byte_is_read_or_raises_an_error(tmp_path, name):
    folder = write_pascal(tmp_path)
    path = folder / name
    content = path.read_bytes()
    outcomes = set()

    for place in [*range(120, 420), *range(420, len(content), 7)]:
        changed = bytearray(content)
        changed[place] ^= 0xFF
        path.write_bytes(changed)
        try:
            outcomes.add(len(read_judgements(folder)))
        except InputError:
            outcomes.add("error")

    assert outcomes == {4, "error"}


@pytest.mark.parametrize("name", ["pair_pascal.mat", "consensus_pascal.mat"])
def test_a_truncated_file_raises_an_error(tmp_path, name):
    path = write_pascal(tmp_path) / name
    content = path.read_bytes()

    for length in range(0, len(content), 37):
        path.write_bytes(content[:length])
        with pytest.raises(InputError):
            read_judgements(tmp_path)


@pytest.mark.parametrize("is_compressed", [False, True])
def test_matlab_files_are_read_as_scipy_writes_them(tmp_path, is_compressed):
    cells = np.empty((1, 3), object)
    cells[0] = ["é ü", np.array([[1.5, -2]]), np.zeros((0, 0))]
    records = np.zeros((2, 1), [("first", object), ("b", object)])
    records[0, 0] = ("x", cells)
    records[1, 0] = ("日本", np.int16([[3]]))
    numbers = np.arange(6.0).reshape(2, 3)
    variables = {"cells": cells, "records": records, "numbers": numbers, "i": 1j}
    path = tmp_path / "a.mat"
    savemat(path, {**variables, "strings": ["ab", "cd"]}, do_compression=is_compressed)

    names = ("cells", "records", "numbers", "strings", "none")
    content = read_mat(load(path, 10**6), names)

    assert list(content) == ["cells", "records", "numbers", "strings"]
    assert content["strings"] == "ab"
    assert content["numbers"].tolist() == [0, 3, 1, 4, 2, 5]  # by columns
    assert content["cells"][0] == "é ü"
    assert content["cells"][1].tolist() == [1.5, -2]
    assert content["records"].fields == ("first", "b")
    assert content["records"].records[1][0] == "日本"


def test_a_matlab_file_that_is_too_large_when_decompressed_raises_an_error(tmp_path):
    path = tmp_path / "a.mat"
    savemat(path, {"n": np.zeros((1, 100_000))}, do_compression=True)

    assert len(read_mat(load(path, 10**6), ("n",))["n"]) == 100_000
    with refused("damaged"):
        read_mat(load(path, 100_000), ("n",))


@pytest.mark.parametrize("damage", ["larger than the file", "larger than the tag"])
def test_a_wrong_size_of_an_element_raises_an_error(tmp_path, damage):
    path = tmp_path / "a.mat"
    savemat(path, {"n": np.array([[7.0]])})
    content = bytearray(path.read_bytes())
    if damage == "larger than the file":
        content[132:136] = (10**6).to_bytes(4, "little")
    else:
        position = content.index(b"\x01\x00\x01\x00n")  # the name, a small element
        content[position + 2] = 5
    path.write_bytes(content)

    with refused("damaged"):
        read_mat(load(path, 10**7), ("n",))
