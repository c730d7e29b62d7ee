"""phi computed in the same call: the numbers of `caption_matrix`, bit for bit."""

import json
import re

import numpy as np
import pytest
from refusals import codes, facts, refused

import semmetrics
from semmetrics import caption_matrix
from semmetrics.kinds.retrieval import computed_phi
from semmetrics.metrics.cider import fit_document_frequencies
from semmetrics.text.official_parser import OfficialParser

RNG = np.random.default_rng(11)
WORDS = [
    "a",
    "cat",
    "dog",
    "sits",
    "runs",
    "on",
    "the",
    "mat",
    "beach",
    "red",
    "bus",
    "two",
]
N, M = 6, 15
SIMS = RNG.random((N, M))
CAPTIONS = {f"c{one}": " ".join(RNG.choice(WORDS, 6)) for one in range(M)}
# Unequal numbers of references, and not in the order of the gallery.
CUTS = np.split(RNG.permutation(M), [1, 4, 6, 9, 13])
POSITIVES = {f"i{row}": [f"c{one}" for one in some] for row, some in enumerate(CUTS)}
NAMES = {"queries": [*POSITIVES], "gallery": [*CAPTIONS]}
MEASURES = [
    "NCS@1",
    "NCS(ground_truth=left-out)@5",
    "SR(m=3,similar=images)@5",
    "nDCG@5",
    "Nsum",
]


def scored(measures=MEASURES, positives=POSITIVES, **options):
    given = {"task": "retrieval", "direction": "both", **NAMES, **options}
    return semmetrics.score(SIMS, positives, measures=measures, **given)


def matrix(measure="CIDEr-D", rows=POSITIVES, **options):
    references = [[CAPTIONS[name] for name in POSITIVES[image]] for image in rows]
    return caption_matrix(references, [*CAPTIONS.values()], measure=measure, **options)


def values(table):
    return [one.value for one in table]


@pytest.mark.parametrize("held", [1 << 30, 0], ids=["in memory", "in a file"])
@pytest.mark.parametrize(
    ("measure", "options"),
    [
        ("CIDEr-D", {}),
        ("CIDEr(stem=porter)", {"tokenizer": "whitespace"}),
        (
            "CIDEr-D",
            {"doc_freq": fit_document_frequencies([["a cat"], ["a dog"], ["red bus"]])},
        ),
        ("BagSim", {"oov": "skip"}),
        (
            "SPICE",
            {"tuples": {text: [[text.split()[1]]] for text in CAPTIONS.values()}},
        ),
    ],
)
def test_it_is_the_matrix_of_pairs(measure, options, held, monkeypatch, tmp_path):
    monkeypatch.setattr(computed_phi, "_MAX_BYTES_IN_MEMORY", held)
    monkeypatch.setattr(computed_phi.tempfile, "tempdir", str(tmp_path))
    if measure == "SPICE":
        pytest.importorskip(
            "pycocoevalcap",
            reason="pycocoevalcap, which has the synonyms, is not there",
        )
        measure = "SPICE(parser=given)"
    found = scored(phi=measure, captions=CAPTIONS, **options)
    given = scored(phi=matrix(measure, **options))
    assert values(found) == values(given)
    for one, other in zip(found, given, strict=True):
        if one.items is not None:
            assert np.array_equal(one.items, other.items, equal_nan=True)
    own, theirs = (
        re.search(r"matrix:([^;|]*)", t[0].signature)[1] for t in (found, given)
    )
    assert own == theirs  # the same bits
    assert not [*tmp_path.iterdir()]


def test_the_name_of_a_phi_says_its_measure():
    table = scored(
        ["NCS(phi=CIDEr)@5", "NCS(phi=CIDEr-D)@5", "NCS@5"], captions=CAPTIONS
    )
    by_hand = [
        scored(["NCS@5"], phi=matrix(one)) for one in ("CIDEr", "CIDEr-D", "CIDEr-D")
    ]
    assert values(table) == [t[place].value for place in (0, 1) for t in by_hand]
    assert [";CIDEr;tok:ptb;df@" in one.signature for one in table] == [
        True,
        False,
        False,
    ] * 2


@pytest.mark.parametrize("how", ["ids", "positions", "file", "coco", "numbers"])
def test_captions_come_by_id_or_in_the_order_of_the_gallery(how, tmp_path):
    texts, path, options = [*CAPTIONS.values()], tmp_path / "captions.json", {}
    path.write_text(json.dumps(CAPTIONS), encoding="utf-8")
    images = {name: image for image, names in POSITIVES.items() for name in names}
    coco = {
        "images": [{"id": name} for name in POSITIVES],
        "annotations": [
            {"id": name, "image_id": images[name], "caption": CAPTIONS[name]}
            for name in CAPTIONS
        ],
    }
    given = {"ids": dict(reversed(CAPTIONS.items())), "file": path, "coco": coco}.get(
        how, texts
    )
    if how == "numbers":  # nothing is named
        positives = [[int(name[1:]) for name in some] for some in POSITIVES.values()]
        options = {"queries": None, "gallery": None, "positives": positives}
    assert values(scored(captions=given, **options)) == values(scored(phi=matrix()))


def test_folds_take_their_part_of_it():
    measures = ["NCS@3", "nDCG@3", "NCS(ground_truth=left-out)@2"]
    found = scored(measures, captions=CAPTIONS, folds=3)
    assert values(found) == values(scored(measures, phi=matrix(), folds=3))


def test_ranked_lists_need_no_names_and_come_in_batches():
    order = np.argsort(-SIMS, axis=1, kind="stable")
    lists = {f"i{row}": [f"c{one}" for one in order[row]] for row in range(N)}
    table = semmetrics.score(
        lists, POSITIVES, task="retrieval", measures="NCS@5 nDCG@5", captions=CAPTIONS
    )
    whole = scored(["NCS@5", "nDCG@5"], phi=matrix(), direction="i2t")
    assert values(table) == pytest.approx(values(whole))
    options = {"task": "retrieval", "measures": "NCS@5", "captions": CAPTIONS}
    scorer = semmetrics.Scorer(gallery=[*CAPTIONS], **options)
    for part in np.split(np.arange(N), 3):
        names = [f"i{row}" for row in part]
        scorer.update({n: lists[n] for n in names}, {n: POSITIVES[n] for n in names})
    assert scorer.compute()[0].value == whole[0].value
    with refused("needs-all-items"):
        semmetrics.Scorer(**options, keep_rows=False)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"phi": "CIDEr(stem=porter)"},
        {"tokenizer": "whitespace"},
        {"phi": "BagSim", "oov": "skip"},
    ],
)
def test_a_signature_is_computed_again(options):
    score = scored(["NCS@5"], captions=CAPTIONS, direction="t2i", **options)[0]
    again = semmetrics.rescore(
        score.signature, SIMS, POSITIVES, captions=CAPTIONS, **NAMES
    )
    assert (again[0].value, again.differences) == (score.value, [])
    other = {**CAPTIONS, "c0": "a dog"}
    again = semmetrics.rescore(
        score.signature, SIMS, POSITIVES, captions=other, **NAMES
    )
    assert any("phi differs" in line for line in again.differences)


PROTOCOL = {"protocol": "biten2022", **NAMES}


def official_tuples(path, texts):
    """A file of tuples that says that SPICE's own parser made them."""
    made = {"parser": OfficialParser().identity}
    lines = [{"caption": text, "tuples": [[text.split()[1]]], **made} for text in texts]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "of", [[*CAPTIONS.values()], ["a dog"]], ids=["all", "another"]
)
def test_the_protocol_evaluates_with_spice(of, tmp_path, monkeypatch):
    """Sections 3.4 and 5 of the paper: CIDEr is for training."""
    pytest.importorskip("pycocoevalcap")
    monkeypatch.setenv("SEMMETRICS_HOME", str(tmp_path))  # without the official parser
    tuples = official_tuples(tmp_path / "tuples.jsonl", of)
    found = semmetrics.score(
        SIMS, POSITIVES, captions=CAPTIONS, tuples=tuples, **PROTOCOL
    )
    if of == ["a dog"]:
        assert {one.heading.split()[-1] for one in found.not_computed} >= {
            "GT",
            "Nsum(N)",
            "N@1",
        }
        (reason,) = {one.reason for one in found.not_computed}
        assert "Run `semmetrics spice setup`" in reason
        assert "phi='CIDEr-D' (--phi CIDEr-D), or phi='SPICE(parser=offline)'" in reason
        assert "no-effect" not in codes(found)
        assert {one.heading.split()[-1] for one in found} >= {"R@1", "Rsum"}
        return
    assert not found.not_computed
    whole = matrix("SPICE", tuples=tuples)
    assert values(found) == values(
        semmetrics.score(SIMS, POSITIVES, phi=whole, **PROTOCOL)
    )
    score = next(one for one in found if one.heading == "t2i N@5, without GT")
    assert ";SPICE;tok:ptb;parser@official@" in score.signature
    more = {"captions": CAPTIONS, "tuples": tuples, **NAMES}
    again = semmetrics.rescore(score.signature, SIMS, POSITIVES, **more)
    assert (again[0].value, again.differences) == (score.value, [])


@pytest.mark.parametrize(
    "phi", ["CIDEr-D", "SPICE(parser=offline)", "default", "SPICE", "other"]
)
def test_another_phi_takes_the_place_of_the_protocols(phi):
    if phi.startswith("SPICE("):
        pytest.importorskip("pycocoevalcap")
    given, whole = {"captions": CAPTIONS, "phi": phi}, matrix("CIDEr")
    if "(" in phi or phi == "CIDEr-D":
        whole = matrix(phi)
    elif phi == "SPICE":  # under this name, beside another
        given = {"phi": {"SPICE": whole, "other": matrix()}}
    else:
        given = {"phi": {phi: whole}}
    found = semmetrics.score(SIMS, POSITIVES, **given, **PROTOCOL)
    assert values(found) == values(
        semmetrics.score(SIMS, POSITIVES, phi=whole, **PROTOCOL)
    )
    assert not found.not_computed


def test_what_has_no_effect_is_said():
    (fact,) = facts(scored(["MRR"], captions=CAPTIONS), "no-effect")
    assert fact.values["option"] == "captions"
    (fact,) = facts(scored(["NCS@5"], captions=CAPTIONS, oov="skip"), "no-effect-on")
    assert fact.values == {"option": "oov", "on": "CIDEr-D"}


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"phi": "SPICE"}, "phi-without-captions"),
        ({"captions": CAPTIONS, "phi": "BLEU-4"}, "bad-choice"),
        ({"phi": matrix(), "tokenizer": "13a"}, "needs-option"),
        ({"captions": {"c0": "a cat"}}, "without-text"),
        ({"captions": POSITIVES}, "not-one-text"),
        ({"captions": ["a"] * 9}, "wrong-count"),
        ({"captions": CAPTIONS, "gallery": None, "missing": "skip"}, "unnamed-gallery"),
        ({"captions": CAPTIONS, "phi": "CIDEr(stem=no)"}, r"stem"),
        ({"captions": CAPTIONS, "positives": {**POSITIVES, "i1": []}}, "no-references"),
    ],
)
def test_what_is_wrong_is_refused(options, problem):
    with refused(problem):
        scored(["NCS@5"], **options)


def test_it_is_computed_on_the_device_that_is_named(monkeypatch):
    pytest.importorskip("torch")
    seen, of = [], computed_phi.PairJob.of

    def spy(*given, **more):
        seen.append(given[-1])
        return of(*given, **more)

    monkeypatch.setattr(computed_phi.PairJob, "of", spy)
    found = scored(["NCS@5"], phi="BagSim", captions=CAPTIONS, device="torch:cpu")
    assert seen == [{"device": "torch:cpu"}]
    assert values(found) == pytest.approx(
        values(scored(["NCS@5"], phi=matrix("BagSim")))
    )
    seen.clear()
    scored(["NCS@5"], captions=CAPTIONS, device="torch:cpu")
    assert seen == [{}]  # no vectors
