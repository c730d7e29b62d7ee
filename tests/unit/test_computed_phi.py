"""phi that is computed from captions in the same call: the numbers of ``caption_matrix``."""

import json
import re

import numpy as np
import pytest
from refusals import facts, refused

import semmetrics
from semmetrics import caption_matrix
from semmetrics.kinds.retrieval import computed_phi
from semmetrics.metrics.cider import fit_document_frequencies
from semmetrics.text.official_parser import OfficialParser

RNG = np.random.default_rng(11)
WORDS = ["a", "cat", "dog", "sits", "runs", "on", "the", "mat", "red", "bus"]
SIMILARITIES = RNG.random((6, 15))
CAPTIONS = {f"c{place}": " ".join(RNG.choice(WORDS, 6)) for place in range(15)}
# Images have different numbers of captions, in another order than the gallery.
POSITIVES = {}
for image, places in enumerate(np.split(RNG.permutation(15), [1, 4, 6, 9, 13])):
    POSITIVES[f"i{image}"] = [f"c{place}" for place in places]
NAMES = {"queries": list(POSITIVES), "gallery": list(CAPTIONS)}
MEASURES = "NCS@1 NCS(ground_truth=left-out)@5 SR(m=3,similar=images)@5 nDCG@5 Nsum"


def score(measures=MEASURES, positives=POSITIVES, **options):
    given = {"task": "retrieval", "direction": "both", **NAMES, **options}
    return semmetrics.score(SIMILARITIES, positives, measures=measures, **given)


def score_protocol(**options):
    return semmetrics.score(
        SIMILARITIES, POSITIVES, protocol="biten2022", **NAMES, **options
    )


def make_matrix(measure="CIDEr-D", **options):
    references = []
    for names in POSITIVES.values():
        references.append([CAPTIONS[name] for name in names])
    captions = list(CAPTIONS.values())
    return caption_matrix(references, captions, measure=measure, **options)


def signed_matrix(table):
    return re.search(r"matrix:([^;|]*)", table[0].signature)[1]


# ---- values -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measure", "options"),
    [
        ("CIDEr-D", {}),
        ("CIDEr(stem=porter)", {"tokenizer": "whitespace"}),
        ("CIDEr-D", {"doc_freq": fit_document_frequencies([["a cat"], ["red bus"]])}),
        ("BagSim", {"oov": "skip"}),
    ],
)
def test_computed_phi_has_the_bits_of_the_caption_matrix(measure, options):
    table = score(phi=measure, captions=CAPTIONS, **options)

    with_matrix = score(phi=make_matrix(measure, **options))
    assert table.to_dict() == with_matrix.to_dict()
    assert signed_matrix(table) == signed_matrix(with_matrix)


def test_phi_of_given_scene_graphs_is_the_caption_matrix():
    pytest.importorskip("pycocoevalcap", reason="SPICE's synonyms are missing")
    graphs = {text: [[text.split()[1]]] for text in CAPTIONS.values()}
    options = {"tuples": graphs}

    table = score(phi="SPICE(parser=given)", captions=CAPTIONS, **options)

    matrix = make_matrix("SPICE(parser=given)", **options)
    assert table.to_dict() == score(phi=matrix).to_dict()


def test_a_large_phi_is_computed_in_a_temporary_file(monkeypatch, tmp_path):
    monkeypatch.setattr(computed_phi, "MAX_BYTES_IN_MEMORY", 0)
    monkeypatch.setattr(computed_phi.tempfile, "tempdir", str(tmp_path))

    table = score(captions=CAPTIONS)

    assert table.to_dict() == score(phi=make_matrix()).to_dict()
    assert not list(tmp_path.iterdir())


def test_the_name_of_phi_is_its_measure():
    measures = ["NCS(phi=CIDEr)@5", "NCS(phi=CIDEr-D)@5", "NCS@5"]

    values = score(measures, captions=CAPTIONS, direction="i2t").to_dict()

    of_cider = score("NCS@5", phi=make_matrix("CIDEr"), direction="i2t")[0].value
    of_cider_d = score("NCS@5", phi=make_matrix("CIDEr-D"), direction="i2t")[0].value
    assert list(values.values()) == [of_cider, of_cider_d, of_cider_d]


def save_captions(folder):
    path = folder / "captions.json"
    path.write_text(json.dumps(CAPTIONS), encoding="utf-8")
    return path


def make_coco(folder):
    annotations = []
    for image, names in POSITIVES.items():
        for name in names:
            row = {"id": name, "image_id": image, "caption": CAPTIONS[name]}
            annotations.append(row)
    images = [{"id": image} for image in POSITIVES]
    return {"images": images, "annotations": annotations}


@pytest.mark.parametrize(
    "make",
    [
        save_captions,
        make_coco,
        lambda folder: list(CAPTIONS.values()),
        lambda folder: dict(reversed(CAPTIONS.items())),
    ],
    ids=["file", "coco", "list", "mapping"],
)
def test_captions_are_named_by_id_or_by_their_order_in_the_gallery(make, tmp_path):
    expected = score(phi=make_matrix()).to_dict()

    assert score(captions=make(tmp_path)).to_dict() == expected


def test_ranked_lists_are_scored_at_once_or_in_batches():
    lists = {}
    for image, row in zip(POSITIVES, SIMILARITIES, strict=True):
        lists[image] = np.take(NAMES["gallery"], np.argsort(-row)).tolist()
    options = {"task": "retrieval", "measures": "NCS@5", "captions": CAPTIONS}
    scorer = semmetrics.Scorer(gallery=NAMES["gallery"], **options)
    for image, candidates in lists.items():
        scorer.update({image: candidates}, {image: POSITIVES[image]})

    table = semmetrics.score(lists, POSITIVES, **options)

    expected = score("NCS@5", phi=make_matrix(), direction="i2t").to_dict()
    assert table.to_dict() == pytest.approx(expected)
    assert scorer.compute().to_dict() == pytest.approx(expected)
    with refused("needs-all-items"):
        semmetrics.Scorer(**options, keep_rows=False)


def test_phi_is_computed_on_the_requested_device():
    pytest.importorskip("torch")

    table = score("NCS@5", phi="BagSim", captions=CAPTIONS, device="torch:cpu")

    expected = score("NCS@5", phi=make_matrix("BagSim")).to_dict()
    assert table.to_dict() == pytest.approx(expected)


# ---- signatures and notes -----------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [{"phi": "CIDEr(stem=porter)"}, {"tokenizer": "whitespace"}, {"phi": "BagSim"}],
)
def test_a_signature_with_computed_phi_can_be_rescored(options):
    result = score("NCS@5", captions=CAPTIONS, direction="t2i", **options)[0]

    def rescore(captions):
        options = {"captions": captions, **NAMES}
        return semmetrics.rescore(result.signature, SIMILARITIES, POSITIVES, **options)

    same = rescore(CAPTIONS)
    assert same[0].value == result.value
    assert same.differences == []
    changed = rescore({**CAPTIONS, "c0": "a dog"})
    assert any("phi differs" in line for line in changed.differences)


@pytest.mark.parametrize(
    ("measure", "options", "code", "values"),
    [
        ("MRR", {}, "no-effect", {"option": "captions"}),
        (
            "NCS@5",
            {"oov": "skip"},
            "no-effect-on",
            {"option": "oov", "on": "CIDEr-D"},
        ),
    ],
)
def test_a_note_names_options_without_effect(measure, options, code, values):
    (fact,) = facts(score(measure, captions=CAPTIONS, **options), code)

    assert values.items() <= fact.values.items()


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"phi": "SPICE"}, "phi-without-captions"),
        ({"captions": CAPTIONS, "phi": "BLEU-4"}, "bad-choice"),
        ({"captions": CAPTIONS, "phi": "CIDEr(stem=no)"}, "bad-choice"),
        ({"phi": make_matrix(), "tokenizer": "13a"}, "needs-option"),
        ({"captions": {"c0": "a cat"}}, "without-text"),
        ({"captions": POSITIVES}, "not-one-text"),
        ({"captions": ["a"] * 9}, "wrong-count"),
        ({"captions": CAPTIONS, "gallery": None, "missing": "skip"}, "unnamed-gallery"),
        ({"captions": CAPTIONS, "positives": {**POSITIVES, "i1": []}}, "no-references"),
    ],
)
def test_invalid_captions_are_errors(options, code):
    with refused(code):
        score("NCS@5", **options)


# ---- the protocol -------------------------------------------------------------------


def save_official_graphs(path, captions):
    """Save scene graphs as if SPICE's own parser had made them."""
    parser = OfficialParser().identity
    lines = []
    for caption in captions:
        graph = {"caption": caption, "tuples": [[caption.split()[1]]], "parser": parser}
        lines.append(json.dumps(graph))
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_the_protocol_evaluates_with_spice(tmp_path):
    """Sections 3.4 and 5 of the paper use CIDEr for training."""
    pytest.importorskip("pycocoevalcap")
    graphs = save_official_graphs(tmp_path / "tuples.jsonl", CAPTIONS.values())

    table = score_protocol(captions=CAPTIONS, tuples=graphs)

    assert not table.not_computed
    expected = score_protocol(phi=make_matrix("SPICE", tuples=graphs))
    assert table.to_dict() == expected.to_dict()
    assert ";SPICE;tok:ptb;parser@official@" in table["t2i N@5, without GT"].signature


def test_the_protocol_leaves_out_spice_without_its_parser(tmp_path, monkeypatch):
    pytest.importorskip("pycocoevalcap")
    monkeypatch.setenv("SEMMETRICS_HOME", str(tmp_path))
    graphs = save_official_graphs(tmp_path / "tuples.jsonl", ["a dog"])

    table = score_protocol(captions=CAPTIONS, tuples=graphs)

    assert "i2t R@1" in table.headings
    headings = {measure.heading for measure in table.not_computed}
    assert {"N@1", "Nsum(N)"} <= headings
    (reason,) = {measure.reason for measure in table.not_computed}
    assert "semmetrics spice setup" in reason


@pytest.mark.parametrize("name", ["CIDEr-D", "SPICE(parser=offline)"])
def test_the_protocol_may_use_another_measure(name):
    if name.startswith("SPICE"):
        pytest.importorskip("pycocoevalcap")

    table = score_protocol(captions=CAPTIONS, phi=name)

    assert table.to_dict() == score_protocol(phi=make_matrix(name)).to_dict()
    assert not table.not_computed


def test_the_protocol_uses_the_phi_named_spice():
    matrix = make_matrix("CIDEr")

    table = score_protocol(
        captions=CAPTIONS, phi={"SPICE": matrix, "other": make_matrix()}
    )

    assert table.to_dict() == score_protocol(phi=matrix).to_dict()
