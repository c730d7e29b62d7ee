"""References of images, and captions, for matrices of all pairs."""

from __future__ import annotations

import numpy as np

from semmetrics.kinds.captions.matrix import caption_matrix


def random_images(n_images=40, n_references=2, n_words=30, seed=3):
    """Return the references of images, and captions, which are references and three others."""
    rng = np.random.default_rng(seed)
    words = [f"w{number}" for number in range(n_words)]
    probabilities = 1 / np.arange(1, n_words + 1)
    probabilities /= probabilities.sum()

    def caption():
        return " ".join(rng.choice(words, rng.integers(2, 16), p=probabilities))

    images = []
    captions = []
    for _ in range(n_images):
        references = [caption() for _ in range(n_references)]
        images.append(references)
        captions += references
    return images, [*captions, caption(), "", "w1"]


def matrix(images, captions, **options):
    return caption_matrix(images, captions, tokenizer="whitespace", **options)
