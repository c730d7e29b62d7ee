"""Which words and phrases have a vector of their own, and the text that each vector is of.

In this order of preference: the whole words of the sentence model's vocabulary, class names of data
sets, then WordNet's nouns: those that occur in its tagged texts, single words for visible things,
phrases of known words for visible things, phrases of known words, and other single words, until
there are enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from embeddings import sources, wordnet
from semmetrics.embed.static import normalise

__all__ = ["base_words", "choose", "fitting_texts", "pieces"]

# PASCAL VOC writes these in one word, of which the sentence model makes little.
_RUN_TOGETHER = {
    "diningtable": "dining table",
    "pottedplant": "potted plant",
    "tvmonitor": "tv monitor",
}
_MOST_WORDS = 5


def _pieces_of_model() -> list[str]:
    vocabulary = next(one for one in sources.FILES if one.path.endswith("vocab.txt"))
    return vocabulary.locate().read_text(encoding="utf-8").splitlines()


def base_words() -> list[str]:
    """Whole words of the sentence model's vocabulary that can occur in a normalised text."""
    return [piece for piece in _pieces_of_model() if re.fullmatch("[a-z0-9]+", piece)]


def pieces() -> list[tuple[int, str]]:
    """Continuations in the sentence model's vocabulary, with their numbers there."""
    every = enumerate(_pieces_of_model())
    return [
        (number, piece) for number, piece in every if re.fullmatch("##[a-z0-9]+", piece)
    ]


def _tier(noun: wordnet.Noun, known: set[str]) -> tuple[int, int]:
    """Sort key of a noun: the lower, the likelier it is used as a label."""
    words = normalise(noun.text).split()
    single, common = len(words) == 1, known.issuperset(words)
    if noun.count:
        return 0, -noun.count
    order = (
        noun.visible and single,
        noun.visible and common,
        common,
        single,
        noun.visible,
    )
    return 1 + (order.index(True) if True in order else len(order)), 0


def _candidates() -> Iterator[tuple[str, str]]:
    """Entries and the texts that their vectors are of, the best first."""
    words = base_words()
    yield from ((word, word) for word in words)
    for name in sources.class_names():
        if len(normalise(name).split()) <= _MOST_WORDS:
            yield normalise(name), _RUN_TOGETHER.get(name, name)
    known = set(words)
    nouns = [one for one in wordnet.nouns() if not one.name and wordnet.plain(one.text)]
    for noun in sorted(nouns, key=lambda one: _tier(one, known)):
        yield normalise(noun.text), noun.text


def choose(size: int) -> dict[str, str]:
    """The vocabulary without continuations: entry to the text that its vector is of."""
    chosen: dict[str, str] = {}
    for entry, text in _candidates():
        if len(chosen) == size:
            break
        if entry:
            chosen.setdefault(entry, text)
    return chosen


def fitting_texts(vocabulary: Iterable[str]) -> list[str]:
    """Nouns outside the vocabulary on which parts may be fitted; see :func:`wordnet.split`."""
    kept = {
        normalise(lemma)
        for one in wordnet.synsets()
        if wordnet.split(one) != "fit"
        for lemma in one.lemmas
    }
    kept.update(vocabulary)
    texts = {normalise(noun.text): noun.text for noun in wordnet.nouns()}
    return [text for entry, text in texts.items() if entry and entry not in kept]
