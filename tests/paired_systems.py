"""Random systems with the same items, for tests that compare them."""

import random

import numpy as np

LABELS = list("abcdef")


def label_systems(n=60, seed=0, gains=(0.0, 0.15, 0.0)):
    """Return the systems a, b and c, which predict 60% of the labels, plus a gain, correctly."""
    rng = random.Random(seed)
    gts = {f"id {i}": rng.sample(LABELS, rng.randrange(1, 4)) for i in range(n)}
    systems = {}
    for system, gain in zip("abc", gains, strict=True):
        systems[system] = {}
        for item, labels in gts.items():
            guesses = [_guess(label, 0.6 + gain, rng) for label in labels]
            systems[system][item] = guesses
    return systems, gts


def _guess(label, accuracy, rng):
    return label if rng.random() < accuracy else rng.choice(LABELS)


def caption_systems(n=150, seed=0):
    """Return the systems a, b and c, whose captions have fewer and fewer wrong words."""
    rng = np.random.default_rng(seed)
    vocabulary = np.array([f"w{i}" for i in range(40)])

    def add_noise(words, noise):
        is_wrong = rng.random(len(words)) < noise
        return " ".join(np.where(is_wrong, rng.choice(vocabulary, len(words)), words))

    texts = {f"image {i}": rng.choice(vocabulary, 12) for i in range(n)}
    gts = {}
    for item, words in texts.items():
        gts[item] = [add_noise(words, 0.05), add_noise(words, 0.1)]
    systems = {}
    for system, noise in (("a", 0.3), ("b", 0.25), ("c", 0.2)):
        systems[system] = {}
        for item, words in texts.items():
            systems[system][item] = [add_noise(words, noise)]
    return systems, gts
