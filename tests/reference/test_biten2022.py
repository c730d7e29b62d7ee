"""Table 1 of Biten et al.: how phi and binary relevance agree with ratings of COCO pairs."""

import gzip
import json

import pytest

import semmetrics

IDS = r"0*(\d+)(?:[.]jpg)?$"
NON_GT = "c2i_intrasim"


@pytest.fixture(scope="module")
def coco(reference_dir):
    """Captions by id, references by image, and the tokens of each caption."""
    captions, references = {}, {}
    with (reference_dir / "coco" / "coco_karpathy_test5k.tsv").open(
        encoding="utf-8"
    ) as lines:
        for line in list(lines)[1:]:
            image, caption, text = line.rstrip("\n").split("\t")
            captions[caption] = text
            references.setdefault(image, []).append(text)
    with gzip.open(
        reference_dir / "coco" / "ptb_tokens_coco_test5k.tsv.gz", "rt"
    ) as lines:
        tokens = dict(line.rstrip("\n").split("\t") for line in lines)
    return captions, references, tokens


def correlations(reference_dir, phi):
    ratings = reference_dir / "cxc" / "sits_test.csv"
    found = semmetrics.correlate(
        ratings,
        {"phi": phi},
        columns=["caption", "image", "agg_score"],
        group_by="sampling_method",
        ids=IDS,
    )
    return {row["group"]: row for row in found}


def matrix(coco, change, **options):
    captions, references, _ = coco
    texts = [[change(text) for text in some] for some in references.values()]
    values = semmetrics.caption_matrix(
        texts,
        list(map(change, captions.values())),
        tokenizer="whitespace",
        dtype="float32",
        **options,
    )
    return values, list(references), list(captions)


def test_binary_relevance(reference_dir):
    """0.711, and 0.00 where it is not defined: no pair of these is relevant."""
    found = correlations(
        reference_dir, reference_dir / "eccv" / "original_image_to_caption.json"
    )
    assert (found["all"]["n"], found["all"]["lacking"]) == (44833, 0)
    assert found["all"]["pearson"] == pytest.approx(0.7115132077, abs=1e-9)
    assert found[NON_GT]["n"] == 19833
    assert found[NON_GT]["pearson"] is None


def test_cider_of_lower_cased_words(reference_dir, coco):
    """0.734 and 0.453, the digits cut and not rounded, in the way of the released code."""
    found = correlations(reference_dir, matrix(coco, str.lower, measure="CIDEr-D"))
    assert found["all"]["pearson"] == pytest.approx(0.7346, abs=5e-5)
    assert found[NON_GT]["pearson"] == pytest.approx(0.4537, abs=5e-5)


def test_cider_of_tokens(reference_dir, coco):
    """With the tokens of pycocoevalcap, without punctuation, people agree more."""
    tokens = coco[2]
    found = correlations(
        reference_dir, matrix(coco, tokens.__getitem__, measure="CIDEr-D")
    )
    assert found["all"]["pearson"] == pytest.approx(0.7384, abs=5e-5)
    assert found[NON_GT]["pearson"] == pytest.approx(0.4871, abs=5e-5)


def test_spice_of_tokens(reference_dir, coco):
    """0.729 and 0.536 are printed, which are those of lower-cased captions: 0.7298 and 0.5364."""
    pytest.importorskip("pycocoevalcap")
    with gzip.open(
        reference_dir / "spice" / "raw_tuples_coco_test5k.jsonl.gz", "rt"
    ) as lines:
        tuples = {one["caption"]: one["tuples"] for one in map(json.loads, lines)}
    tokens = coco[2]
    given = {"measure": "SPICE(parser=given)", "tuples": tuples}
    found = correlations(reference_dir, matrix(coco, tokens.__getitem__, **given))
    assert found["all"]["pearson"] == pytest.approx(0.7279, abs=5e-5)
    assert found[NON_GT]["pearson"] == pytest.approx(0.5329, abs=5e-5)
