"""The whole COCO protocol, from captions as they are written to the published figures.

The candidates of the COCO caption code's example are raw; its references are raw where the Karpathy
split has them, and otherwise tokens, which are tokens of themselves. The correlations with the
expert judgements of Flickr8k (Kendall's tau-c over unaggregated ratings) start from raw captions on
both sides.
"""

from __future__ import annotations

import json
from importlib.util import find_spec

import pytest
from reference_data import coco_test_captions, read_json

import semmetrics
from semmetrics.text.tokenizers import open_tokenizer

FAKECAP = {
    "Bleu_1": 0.5793995754573356,
    "Bleu_2": 0.40439129741018104,
    "Bleu_3": 0.2785363856619147,
    "Bleu_4": 0.1908290437674253,
    "METEOR": 0.19525467177780284,
    "ROUGE_L": 0.39625269357570847,
    "CIDEr": 0.5997905185184199,
}
FLICKR8K = {
    "BLEU-1": 32.324,
    "BLEU-4": 30.776,
    "ROUGE-L": 32.314,
    "CIDEr-D(df=rows)": 43.891,
    "CIDEr-D": 43.829,
}


def tokens(texts):
    return list(map(" ".join, open_tokenizer("ptb").tokens(texts)))


def raw_references(texts, expected_tokens):
    """Restore the stop after "bat", which the tokens of one caption have."""
    restored = []
    for text, words, expected in zip(
        texts, tokens(texts), expected_tokens, strict=True
    ):
        if words != expected:
            assert expected == words + "."
            assert words.endswith(" bat")
            text = expected + ","  # The comma is dropped, and the stop stays.
        restored.append(text)
    return restored


@pytest.fixture(scope="module")
def references(reference_dir):
    """Captions that have the tokens of the example."""
    expected = read_json(reference_dir / "coco" / "fakecap_tokenized_gts.json")
    images = coco_test_captions(reference_dir).by_image
    n_raw = 0
    captions = {}
    for name, expected_tokens in expected.items():
        texts = images.get(name, [])
        if len(texts) == len(expected_tokens):
            n_raw += 1
        else:
            texts = expected_tokens
        captions[name] = raw_references(texts, expected_tokens)
        assert tokens(captions[name]) == expected_tokens
    assert n_raw == 128  # The split has five captions of an image that has six.
    return captions


@pytest.fixture
def annotation_file(references, tmp_path):
    annotations = []
    for name, texts in references.items():
        for number, text in enumerate(texts):
            annotation = {"image_id": int(name), "id": number, "caption": text}
            annotations.append(annotation)
    images = [{"id": int(name)} for name in references]
    path = tmp_path / "captions_val2014.json"
    path.write_text(json.dumps({"images": images, "annotations": annotations}), "utf-8")
    return path


def test_raw_captions_have_the_published_values(reference_dir, annotation_file):
    results = reference_dir / "coco" / "captions_val2014_fakecap_results.json"
    not_computed = {"SPICE"}
    if not find_spec("pycocoevalcap"):
        not_computed.add("METEOR")

    table = semmetrics.score(
        results, annotation_file, protocol="coco-caption", ci=True, resamples=20
    )

    assert {score.heading for score in table.not_computed} == not_computed
    assert {score.heading for score in table} == FAKECAP.keys() - not_computed
    for score in table:
        assert score.value == pytest.approx(FAKECAP[score.heading], abs=1e-12)
        assert score.ci.low < score.value < score.ci.high
        assert score.n == 1000


def test_the_candidates_have_the_tokens_of_the_example(reference_dir):
    coco = reference_dir / "coco"
    results = read_json(coco / "captions_val2014_fakecap_results.json")
    expected = read_json(coco / "fakecap_tokenized_res.json")

    words = {str(row["image_id"]): tokens([row["caption"]]) for row in results}

    assert words == expected


def test_tau_c_on_flickr8k_expert_is_the_published_one(reference_dir):
    table = semmetrics.meta(
        reference_dir / "flickr8k" / "flickr8k_expert.json",
        protocol="flickr8k-expert",
        measures=list(FLICKR8K),
        tokenizer="ptb",
        resamples=2,
    )

    for result in table:
        assert result.statistic == "kendall-c"
        assert result.n == 16_992
        assert result.images == 1_000
    values = {result.heading: round(100 * result.value, 3) for result in table}
    assert values == FLICKR8K
