"""Blocks of caption tasks: their memory, and the values of one block."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from semmetrics.data.tasks.base import Block
from semmetrics.data.tasks.captions import caption_task
from semmetrics.metrics.parsing import parse_all
from semmetrics.text.tokenizers import open_tokenizer

MEASURES = parse_all(
    [
        "BLEU-4",
        "ROUGE-L",
        "CIDEr-D",
        "CIDEr",
        "NGSM",
        "DuplicatedCaption",
        "CaptionLength",
    ]
)
STATISTICS = {measure.definition.family.statistic(measure) for measure in MEASURES}
MEMORY = 1 << 22
WORDS = [f"word{number}" for number in range(500)]
LETTERS = list("abcdefghijklmnopqrstuvwxyz")
# Images, candidates and references of each, words per caption, vocabulary
SHAPES = {
    "one large image": [(1, 250, 250, 8, WORDS), (2_000, 1, 1, 8, WORDS)],
    "long captions": [(30, 1, 5, 1_000, WORDS)],
    "letters": [(500, 1, 5, 40, LETTERS)],
    "words": [(3_000, 1, 5, 1, WORDS)],
    "no references": [(5_000, 1, 0, 8, WORDS)],
}


def task_of(shape):
    rng = np.random.default_rng(0)
    candidates = []
    references = []
    for n_images, n_candidates, n_references, size, words in SHAPES[shape]:
        n_captions = n_candidates + n_references
        for _ in range(n_images):
            tokens = rng.choice(words, (n_captions, size))
            captions = [" ".join(row) for row in tokens]
            candidates.append(captions[:n_candidates])
            references.append(captions[n_candidates:])
    ids = range(len(candidates))
    return caption_task(candidates, references, ids, open_tokenizer("whitespace"))


def peak_memory(block):
    """Return how many bytes the columns of a block need while they are computed."""
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    for statistic in STATISTICS:
        block.get(statistic)
    return tracemalloc.get_traced_memory()[1] - before


@pytest.mark.parametrize("shape", SHAPES)
def test_blocks_use_most_of_the_memory_and_not_more(shape):
    task = task_of(shape)
    for statistic in STATISTICS:
        Block(task, 0, 1).get(statistic)  # computes tables of the whole task
    blocks = list(task.blocks(MEMORY))

    tracemalloc.start()
    try:
        peaks = [peak_memory(block) for block in blocks]
    finally:
        tracemalloc.stop()

    assert len(blocks) > 1
    assert MEMORY / 32 < max(peaks) < MEMORY


def test_a_single_item_may_need_more_memory():
    task = task_of("long captions")

    assert [len(block) for block in task.blocks(1)] == [1] * len(task)


@pytest.mark.parametrize("shape", ["one large image", "letters"])
def test_blocks_have_the_values_of_one_block(shape):
    task = task_of(shape)
    blocks = list(task.blocks(MEMORY))
    whole = Block(task, 0, len(task))

    for measure in MEASURES:
        family = measure.definition.family
        statistic = family.statistic(measure)
        parts = [family.items(measure, block.get(statistic), None) for block in blocks]
        expected = family.items(measure, whole.get(statistic), None)
        assert_array_equal(np.concatenate(parts), expected)
