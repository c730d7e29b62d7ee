"""Table 1 of Biten et al.: how phi and binary relevance agree with ratings of COCO pairs."""

import pytest
from reference_data import coco_test_captions, ptb_tokens, raw_tuples

import semmetrics

IDS = r"0*(\d+)(?:[.]jpg)?$"
NON_GT = "c2i_intrasim"


@pytest.fixture(scope="module")
def coco(reference_dir):
    return coco_test_captions(reference_dir)


@pytest.fixture(scope="module")
def tokens(reference_dir):
    return ptb_tokens(reference_dir, "coco_test5k")


def correlations(reference_dir, phi):
    """Pearson correlations with the ratings, by sampling method."""
    rows = semmetrics.correlate(
        reference_dir / "cxc" / "sits_test.csv",
        {"phi": phi},
        columns=["caption", "image", "agg_score"],
        group_by="sampling_method",
        ids=IDS,
    )
    return {row["group"]: row for row in rows}


def phi_matrix(coco, preprocess, **options):
    """The matrix of a measure on captions, with the ids of images and captions."""
    references = []
    for texts in coco.by_image.values():
        references.append([preprocess(text) for text in texts])
    captions = [preprocess(text) for text in coco.by_sentence.values()]
    matrix = semmetrics.caption_matrix(
        references, captions, tokenizer="whitespace", dtype="float32", **options
    )
    return matrix, list(coco.by_image), list(coco.by_sentence)


def test_binary_relevance_has_0_711_and_no_value_without_relevant_pairs(reference_dir):
    phi = reference_dir / "eccv" / "original_image_to_caption.json"

    rows = correlations(reference_dir, phi)

    assert rows["all"]["n"] == 44833
    assert rows["all"]["lacking"] == 0
    assert rows["all"]["pearson"] == pytest.approx(0.7115132077, abs=1e-9)
    assert rows[NON_GT]["n"] == 19833
    assert rows[NON_GT]["pearson"] is None


def test_cider_of_lower_cased_words_has_the_printed_values(reference_dir, coco):
    """The paper prints 0.734 and 0.453, truncated and not rounded."""
    rows = correlations(reference_dir, phi_matrix(coco, str.lower, measure="CIDEr-D"))

    assert rows["all"]["pearson"] == pytest.approx(0.7346, abs=5e-5)
    assert rows[NON_GT]["pearson"] == pytest.approx(0.4537, abs=5e-5)


def test_cider_of_ptb_tokens_agrees_more_with_people(reference_dir, coco, tokens):
    phi = phi_matrix(coco, tokens.__getitem__, measure="CIDEr-D")

    rows = correlations(reference_dir, phi)

    assert rows["all"]["pearson"] == pytest.approx(0.7384, abs=5e-5)
    assert rows[NON_GT]["pearson"] == pytest.approx(0.4871, abs=5e-5)


def test_spice_of_ptb_tokens_is_close_to_the_printed_values(
    reference_dir, coco, tokens
):
    """The paper prints 0.729 and 0.536. Lower-cased captions have 0.7298 and 0.5364."""
    pytest.importorskip("pycocoevalcap")
    tuples = raw_tuples(reference_dir, "coco_test5k")
    measure = "SPICE(parser=given)"
    phi = phi_matrix(coco, tokens.__getitem__, measure=measure, tuples=tuples)

    rows = correlations(reference_dir, phi)

    assert rows["all"]["pearson"] == pytest.approx(0.7279, abs=5e-5)
    assert rows[NON_GT]["pearson"] == pytest.approx(0.5329, abs=5e-5)
