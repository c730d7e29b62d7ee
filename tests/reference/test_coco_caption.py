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


def karpathy(coco):
    """The captions of each image of the split."""
    images: dict[str, list[str]] = {}
    for line in (coco / "coco_karpathy_test5k.tsv").read_text("utf-8").splitlines()[1:]:
        image, _, text = line.split("\t")
        images.setdefault(image, []).append(text)
    return images


@pytest.fixture(scope="module")
def references(reference_dir):
    """Texts of which the tokenizer makes the tokens of the example."""
    coco = reference_dir / "coco"
    expected = json.loads((coco / "fakecap_tokenized_gts.json").read_text("utf-8"))
    split = karpathy(coco)
    raw = [name for name in expected if len(split.get(name, ())) == len(expected[name])]
    assert len(raw) == 128  # the split has five captions of an image that has six
    found = {
        name: list(split[name] if name in raw else texts)
        for name, texts in expected.items()
    }
    for name, texts in found.items():
        for place, (made, right) in enumerate(
            zip(tokens(texts), expected[name], strict=True)
        ):
            if made != right:  # one, where the next caption had kept the stop of "bat."
                assert (made + ".", made.split()[-1]) == (right, "bat")
                texts[place] = right + ","  # which is dropped, and keeps the stop
        assert tokens(texts) == expected[name]
    return found


def test_the_protocol_on_raw_captions(reference_dir, references, tmp_path):
    annotations = [
        {"image_id": int(name), "id": place, "caption": text}
        for name, texts in references.items()
        for place, text in enumerate(texts)
    ]
    path = tmp_path / "captions_val2014.json"
    images = [{"id": int(name)} for name in references]
    path.write_text(json.dumps({"images": images, "annotations": annotations}), "utf-8")
    results = reference_dir / "coco" / "captions_val2014_fakecap_results.json"
    table = semmetrics.score(
        results, path, protocol="coco-caption", ci=True, resamples=20
    )
    found = {score.heading: score.value for score in table}
    lacking = {one.heading for one in table.not_computed}
    assert lacking == {"SPICE"} | (set() if find_spec("pycocoevalcap") else {"METEOR"})
    assert found.keys() == FAKECAP.keys() - lacking
    for score in table:
        assert score.value == pytest.approx(FAKECAP[score.heading], abs=1e-12)
        assert score.ci.low < score.value < score.ci.high
        assert score.n == 1000


def test_the_candidates_have_the_tokens_of_the_example(reference_dir):
    coco = reference_dir / "coco"
    results = json.loads(
        (coco / "captions_val2014_fakecap_results.json").read_text("utf-8")
    )
    expected = json.loads((coco / "fakecap_tokenized_res.json").read_text("utf-8"))
    raw = {str(row["image_id"]): [row["caption"]] for row in results}
    assert {name: tokens(texts) for name, texts in raw.items()} == expected


def test_flickr8k_expert(reference_dir):
    table = semmetrics.meta(
        reference_dir / "flickr8k" / "flickr8k_expert.json",
        protocol="flickr8k-expert",
        measures=list(FLICKR8K),
        tokenizer="ptb",
        resamples=2,
    )
    assert {(one.statistic, one.n, one.images) for one in table} == {
        ("kendall-c", 16_992, 1_000)
    }
    assert {one.heading: round(100 * one.value, 3) for one in table} == FLICKR8K
