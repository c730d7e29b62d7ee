"""PTB tokens of every caption of COCO's test split, Flickr8k and a released captioner."""

import gzip
import json
from collections import Counter
from itertools import pairwise

import pytest

from semmetrics.text.ptb import PtbTokenizer

FILES = {"ptb_tokens_coco_test5k.tsv.gz": 24_824, "ptb_tokens_flickr8k.tsv.gz": 4_993}
# Captions whose end pycocoevalcap tokenizes by what the next caption begins with.
BY_THE_NEXT = {"A group of people trying out the new Nintendo Wii U."}


@pytest.fixture(scope="module", params=FILES)
def gold(request, reference_dir):
    with gzip.open(reference_dir / "coco" / request.param, "rt", encoding="utf-8") as lines:
        pairs = [tuple(line.rstrip("\n").split("\t")) for line in lines]
    assert len(pairs) == FILES[request.param]
    return pairs


def test_tokens_of_every_caption(gold):
    captions = [caption for caption, _ in gold]
    found = map(" ".join, PtbTokenizer().tokens(captions))
    wrong = [pair for pair, ours in zip(gold, found, strict=True) if ours != pair[1]]
    assert {caption for caption, _ in wrong} <= BY_THE_NEXT


def test_ends_of_captions_by_the_next_caption(gold):
    # The files hold each caption once; there the next caption is that of the run.
    captions = [caption for caption, _ in gold]
    found = map(" ".join, PtbTokenizer(run_on=True).tokens(captions))
    wrong = [pair[0] for pair, ours in zip(gold, found, strict=True) if ours != pair[1]]
    followed = {first for first, second in pairwise(captions) if second.startswith(("A ", "The "))}
    assert not [caption for caption in wrong if caption in followed]


def test_tokens_of_a_captioner(reference_dir):
    folder = reference_dir / "coco"
    with (folder / "captions_val2014_fakecap_results.json").open(encoding="utf-8") as file:
        results = json.load(file)
    with (folder / "fakecap_tokenized_res.json").open(encoding="utf-8") as file:
        expected = json.load(file)
    found = PtbTokenizer().tokens([result["caption"] for result in results])
    ours = {str(r["image_id"]): [" ".join(t)] for r, t in zip(results, found, strict=True)}
    assert ours == expected


def test_tokens_are_the_words_of_the_captions(gold):
    """A check of the files: the tokens are counted, not only compared with themselves."""
    found = PtbTokenizer().tokens([caption for caption, _ in gold])
    counts = Counter(token for tokens in found for token in tokens)
    assert counts["a"] > len(gold)
    assert not {token for token in counts if token != token.lower() or " " in token}
