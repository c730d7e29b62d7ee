"""PTB tokens of all captions of COCO's test split, of Flickr8k and of a released captioner."""

import shutil
from importlib.util import find_spec

import pytest
from reference_data import ptb_tokens, read_json, read_lines

from semmetrics.text.ptb import PtbTokenizer
from semmetrics.text.tokenizers import open_tokenizer

N_CAPTIONS = {"coco_test5k": 24_824, "flickr8k": 4_993}
# pycocoevalcap tokenizes the end of this caption depending on how the next caption begins.
DEPENDS_ON_NEXT_CAPTION = "A group of people trying out the new Nintendo Wii U."


@pytest.fixture(scope="module", params=N_CAPTIONS)
def tokens_by_caption(request, reference_dir):
    tokens = ptb_tokens(reference_dir, request.param)
    assert len(tokens) == N_CAPTIONS[request.param]
    return tokens


def joined_tokens(tokenizer, captions):
    return [" ".join(tokens) for tokens in tokenizer.tokens(captions)]


def test_captions_have_the_released_tokens(tokens_by_caption):
    captions = list(tokens_by_caption)

    tokens = joined_tokens(PtbTokenizer(), captions)

    differ = set()
    for caption, caption_tokens in zip(captions, tokens, strict=True):
        if caption_tokens != tokens_by_caption[caption]:
            differ.add(caption)
    assert differ <= {DEPENDS_ON_NEXT_CAPTION}


def test_captions_that_run_on_have_the_released_tokens(tokens_by_caption):
    tokens = joined_tokens(PtbTokenizer(run_on=True), list(tokens_by_caption))

    assert tokens == list(tokens_by_caption.values())


def test_captions_of_a_captioner_have_the_released_tokens(reference_dir):
    folder = reference_dir / "coco"
    results = read_json(folder / "captions_val2014_fakecap_results.json")
    captions = [result["caption"] for result in results]

    tokens = joined_tokens(PtbTokenizer(), captions)

    tokens_by_image = {}
    for result, caption_tokens in zip(results, tokens, strict=True):
        tokens_by_image[str(result["image_id"])] = [caption_tokens]
    assert tokens_by_image == read_json(folder / "fakecap_tokenized_res.json")


def test_other_captions_have_the_tokens_of_the_java_program(reference_dir):
    if find_spec("pycocoevalcap") is None or shutil.which("java") is None:
        pytest.skip("pycocoevalcap or Java is not installed")
    captions = read_lines(reference_dir / "flickr30k" / "test_caps.txt")
    judged = read_json(reference_dir / "flickr8k" / "flickr8k_expert.json")
    for image in judged.values():
        captions += [rating["caption"] for rating in image["human_judgement"]]
        captions += image.get("ground_truth", [])

    tokens = PtbTokenizer(run_on=True).tokens(captions)

    assert tokens == open_tokenizer("ptb-java").tokens(captions)
