"""PTB tokens of every caption of COCO's test split, Flickr8k and a released captioner."""

import gzip
import json
import shutil
from importlib.util import find_spec

import pytest

from semmetrics.text.ptb import PtbTokenizer
from semmetrics.text.tokenizers import open_tokenizer

FILES = {"ptb_tokens_coco_test5k.tsv.gz": 24_824, "ptb_tokens_flickr8k.tsv.gz": 4_993}
# Captions whose end pycocoevalcap tokenizes by what the next caption begins with.
BY_THE_NEXT = {"A group of people trying out the new Nintendo Wii U."}


@pytest.fixture(scope="module", params=FILES)
def gold(request, reference_dir):
    with gzip.open(
        reference_dir / "coco" / request.param, "rt", encoding="utf-8"
    ) as lines:
        pairs = [tuple(line.rstrip("\n").split("\t")) for line in lines]
    assert len(pairs) == FILES[request.param]
    return pairs


def test_tokens_of_every_caption(gold):
    captions = [caption for caption, _ in gold]
    found = map(" ".join, PtbTokenizer().tokens(captions))
    wrong = [pair for pair, ours in zip(gold, found, strict=True) if ours != pair[1]]
    assert {caption for caption, _ in wrong} <= BY_THE_NEXT


def test_tokens_with_the_next_caption_counting(gold):
    captions = [caption for caption, _ in gold]
    found = map(" ".join, PtbTokenizer(run_on=True).tokens(captions))
    assert list(found) == [tokens for _, tokens in gold]


def test_tokens_of_a_captioner(reference_dir):
    folder = reference_dir / "coco"
    with (folder / "captions_val2014_fakecap_results.json").open(
        encoding="utf-8"
    ) as file:
        results = json.load(file)
    with (folder / "fakecap_tokenized_res.json").open(encoding="utf-8") as file:
        expected = json.load(file)
    found = PtbTokenizer().tokens([result["caption"] for result in results])
    ours = {
        str(r["image_id"]): [" ".join(t)] for r, t in zip(results, found, strict=True)
    }
    assert ours == expected


def test_java_on_other_captions(reference_dir):
    if find_spec("pycocoevalcap") is None or shutil.which("java") is None:
        pytest.skip("pycocoevalcap or Java is not there")
    captions = (
        (reference_dir / "flickr30k" / "test_caps.txt").read_text("utf-8").split("\n")
    )
    with (reference_dir / "flickr8k" / "flickr8k_expert.json").open(
        encoding="utf-8"
    ) as file:
        judged = json.load(file).values()
    captions += [j["caption"] for image in judged for j in image["human_judgement"]]
    captions += [
        caption for image in judged for caption in image.get("ground_truth", [])
    ]
    expected = open_tokenizer("ptb-java").tokens(captions)
    assert PtbTokenizer(run_on=True).tokens(captions) == expected
