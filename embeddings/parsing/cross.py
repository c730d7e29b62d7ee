"""More captions to learn from that read like captions, with words that few captions have.

    python -m embeddings.parsing.cross PARSED... --count N --out captions.txt [--without LIST]
        [--words SHARE] [--longest TOKENS] [--unsure weights.pt] [--seed S]

A caption goes on as another of its file that has the same two words in a row: "a dog runs on the
sand" and "children on the beach with a ball" give "a dog runs on the beach with a ball". In a share
of the captions words of open classes are then replaced, by rare words of the captions and by words
of the vocabulary of the package's static embedding: the official parser knows many more words than
the captions have, and which tags it gives them is learned so. Words of that vocabulary come in its
order, where their ending lets them, but for those that were seen often enough. With `--unsure`
twice as many captions are made, and those kept of which a network that was trained before is least
sure. No caption of a source or of LIST is written.
"""

from __future__ import annotations

import argparse
import itertools
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from embeddings.parsing.captions import plain
from embeddings.parsing.recombine import most_unsure
from embeddings.parsing.sentences import Caption, read_parsed
from semmetrics.embed.model_files import DATA
from semmetrics.text.parser_tokens import word_form

__all__ = ["cross", "lexicon", "main"]

_SHORTEST = 4
# times that a word is seen at most, to be replaced by, and to be tried
_RARE, _SEEN = (
    100,
    5,
)
_REPLACED = 0.5  # of the words of open classes in a caption where some are
_OWN = 0.15  # of the words that replace others: of the captions
_VOCABULARY = 12_000  # words tried, the commonest
_CLASSES = {
    "NNS": "NNS",
    "NN": "NN",
    "JJ": "JJ",
    "VBG": "VBG",
    "VBN": "VBN",
    "VBD": "VBD",
    "VBZ": "VBZ",
    "VBP": "VBP",
    "VB": "VBP",
    "RB": "RB",
}
# Classes in which a word of the vocabulary is tried, by its ending.
_ENDINGS: list[tuple[str, tuple[str, ...]]] = [
    ("ing", ("VBG", "NN", "JJ")),
    ("ed", ("VBN", "VBD", "JJ")),
    ("ly", ("RB", "JJ")),
    ("ss", ("NN", "JJ")),
    ("ous", ("JJ",)),
    ("s", ("NNS", "VBZ", "NN")),
    ("", ("NN", "JJ", "VBP")),
]
Words = dict[str, list[str]]
_Tokens = list[tuple[str, str]]


def lexicon(captions: Iterable[Caption]) -> tuple[Words, Words]:
    """Return rare words of captions by tag, and words of the vocabulary by the tags tried."""
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    for one in captions:
        for sentence in one.sentences:
            for word, tag in zip(sentence.words, sentence.tags, strict=True):
                seen[word.lower()][tag] += 1
    own: Words = defaultdict(list)
    for word, tags in seen.items():
        if word.isalpha() and tags.total() <= _RARE:
            for tag in tags:
                own[_CLASSES.get(tag, "")].append(word)
    entries = (DATA / "static-vocabulary.txt").read_text("utf-8").splitlines()
    other: Words = defaultdict(list)
    for word in [word for word in entries if re.fullmatch("[a-z]{3,}", word)][
        :_VOCABULARY
    ]:
        if seen[word].total() < _SEEN:
            for tag in next(some for ending, some in _ENDINGS if word.endswith(ending)):
                other[tag].append(word)
    return own, other


def cross(
    captions: Sequence[Sequence[Caption]],
    count: int,
    *,
    words: float = 0.6,
    longest: int = 15,
    without: set[str],
    seed: int = 3,
) -> Iterator[str]:
    """Yield new captions, no two of the same words.

    Parameters
    ----------
    captions : sequence of sequence of Caption
        Parsed ones by kind: text or tokens, of one source each. As many are made of each kind.
    count : int
    words : float
        Share of the captions in which words are replaced.
    longest : int
        Tokens of a caption at most. The official parser does short ones much faster.
    without : set of str
        Captions that are not made, as `captions.plain` writes them.
    seed : int
    """
    chance = random.Random(seed)
    every = [one for several in captions for one in several]
    own, other = lexicon(every)
    next_word = {tag: itertools.cycle(some) for tag, some in sorted(other.items())}
    crossings = [_Crossing(several) for several in captions]
    made = without | {plain(one.text) for one in every}
    while count:
        tokens, text = chance.choice(crossings).make(chance)
        if chance.random() < words:
            for place, (_, tag) in enumerate(tokens):
                kind = _CLASSES.get(tag, "none")
                if kind in next_word and chance.random() < _REPLACED:
                    rare = kind in own and chance.random() < _OWN
                    word = chance.choice(own[kind]) if rare else next(next_word[kind])
                    tokens[place] = word if place else word.capitalize(), tag
        caption = _written([word for word, _ in tokens], text)
        if _SHORTEST <= len(tokens) <= longest and plain(caption) not in made:
            made.add(plain(caption))
            count -= 1
            yield caption


class _Crossing:
    """Captions of one kind, and where each pair of words stands in them."""

    def __init__(self, captions: Sequence[Caption]) -> None:
        self._sources: list[tuple[_Tokens, str]] = []
        self._places: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
        for one in captions:
            tokens = [
                pair
                for s in one.sentences
                for pair in zip(s.words, s.tags, strict=True)
            ]
            written = _written([word for word, _ in tokens], one.text)
            if len(one.sentences) == 1 and plain(written) == plain(one.text):
                for place in range(len(tokens) - 2):
                    self._places[_pair(tokens, place)].append(
                        (len(self._sources), place)
                    )
                self._sources.append((tokens, one.text))

    def make(self, chance: random.Random) -> tuple[_Tokens, str]:
        """Return a caption that goes on as another, and the text of the one that it begins as."""
        tokens, text = chance.choice(self._sources)
        tokens = list(tokens)
        for _ in range(chance.choice((1, 1, 2))):
            if len(tokens) > 2:
                place = chance.randrange(len(tokens) - 2)
                source, at = chance.choice(
                    self._places.get(_pair(tokens, place), [(-1, 0)])
                )
                if source >= 0:
                    tokens[place:] = self._sources[source][0][at:]
        return tokens, text


def _pair(tokens: _Tokens, place: int) -> tuple[str, str]:
    return word_form(tokens[place][0]), word_form(tokens[place + 1][0])


def _written(words: Sequence[str], like: str) -> str:
    """Write words in the way of a caption: as tokens in lower case, or as text."""
    if like == like.lower() and not like.endswith("."):
        return " ".join(word.lower() for word in words)
    text = " ".join(words)
    for sign in ("'s", "n't", ",") if " ," not in like else ("'s", "n't"):
        text = text.replace(f" {sign}", sign)
    return text if like.endswith(" .") or not text.endswith(" .") else text[:-2] + "."


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    command = argparse.ArgumentParser(prog="parsing.cross", description=__doc__)
    command.add_argument("parsed", nargs="+", type=Path)
    command.add_argument("--count", type=int, required=True)
    command.add_argument("--without", type=Path)
    command.add_argument("--words", type=float, default=0.6)
    command.add_argument("--longest", type=int, default=15)
    command.add_argument("--unsure", type=Path)
    command.add_argument("--seed", type=int, default=3)
    command.add_argument("--out", type=Path, required=True)
    given = command.parse_args(arguments)
    lines = given.without.read_text("utf-8").splitlines() if given.without else []
    captions = list(
        cross(
            [list(read_parsed([path])) for path in given.parsed],
            given.count * (2 if given.unsure else 1),
            words=given.words,
            longest=given.longest,
            without=set(map(plain, lines)),
            seed=given.seed,
        )
    )
    if given.unsure:
        captions = most_unsure(captions, given.unsure, given.count)
    given.out.write_text(
        "".join(f"{caption}\n" for caption in captions), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
