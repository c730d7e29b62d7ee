"""Blocks of caption tasks: cut by what their pairs take, whatever the shape of the data."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from semmetrics.data.tasks import Block, caption_task
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
MEMORY = 1 << 22
# images, candidates and references of each, words of a caption
SHAPES = {
    "one large image": [(1, 250, 250, 8), (2_000, 1, 1, 8)],
    "long captions": [(30, 1, 5, 1_000)],
    "letters": [(500, 1, 5, 40)],
    "words": [(3_000, 1, 5, 1)],
    "no references": [(5_000, 1, 0, 8)],
}


def task_of(shape):
    rng = np.random.default_rng(0)
    names = np.array([f"word{number}" for number in range(500)], object)

    def captions(count, size):
        words = names if size != 40 else [*"abcdefghijklmnopqrstuvwxyz"]
        return [" ".join(rng.choice(words, size)) for _ in range(count)]

    groups = [
        (captions(mine, size), captions(theirs, size))
        for images, mine, theirs, size in SHAPES[shape]
        for _ in range(images)
    ]
    return caption_task(
        *zip(*groups, strict=True), range(len(groups)), open_tokenizer("whitespace")
    )


def statistics():
    return dict.fromkeys(m.definition.family.statistic(m) for m in MEASURES)


def peak_of(block):
    """Bytes that the columns of a block take at most while they are made."""
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    for statistic in statistics():
        block.get(statistic)
    return tracemalloc.get_traced_memory()[1] - before


@pytest.mark.parametrize("shape", SHAPES)
def test_memory(shape):
    task = task_of(shape)
    for statistic in statistics():
        Block(task, 0, 1).get(statistic)  # tables of the whole task
    blocks = list(task.blocks(MEMORY))
    assert [block.start for block in blocks] == [
        0,
        *(block.stop for block in blocks[:-1]),
    ]
    assert blocks[-1].stop == len(task)
    assert len(blocks) > 1
    tracemalloc.start()
    try:
        peaks = [peak_of(block) for block in blocks]
    finally:
        tracemalloc.stop()
    assert max(peaks) < MEMORY
    assert max(peaks) > MEMORY / 32  # and blocks are no smaller than need be


def test_an_item_alone_may_take_more():
    task = task_of("long captions")
    assert [len(block) for block in task.blocks(1)] == [1] * len(task)


@pytest.mark.parametrize("shape", ["one large image", "letters"])
def test_blocks_give_the_bits_of_one_block(shape):
    task = task_of(shape)
    whole = Block(task, 0, len(task))
    parts = list(task.blocks(MEMORY))
    for measure in MEASURES:
        family = measure.definition.family
        statistic = family.statistic(measure)
        found = [family.items(measure, part.get(statistic), None) for part in parts]
        expected = family.items(measure, whole.get(statistic), None)
        assert_array_equal(np.concatenate(found), expected)
