"""More captions to learn from: parts of parsed captions put into the places of like parts.

    python -m embeddings.parsing.recombine PARSED... --count N --out captions.txt
        [--without LIST] [--unsure weights.pt]

One or two subtrees of a caption are replaced by subtrees of the same relation and tag of another;
some words by others of their tag. Half of the captions look like text, half like its tokens. They
need not make sense: the official parser says what they are. With `--unsure` twice as many are made,
and those are kept of which a network that was trained before is least sure. No caption of LIST is
made.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from embeddings.parsing.captions import plain
from embeddings.parsing.pack import load_model
from embeddings.parsing.sentences import Sentence, read_parsed
from semmetrics.text.parser_tokens import affixes, cut_sentences, shape, word_form

__all__ = ["main", "most_unsure", "recombine"]

_PARTS = frozenset(
    [
        "nmod",
        "dobj",
        "nsubj",
        "conj",
        "nsubjpass",
        "acl",
        "advcl",
        "xcomp",
        "amod",
        "compound",
        "nummod",
        "dep",
    ]
)
_OPEN_TAGS = frozenset(["NN", "NNS", "JJ", "VBG", "VBN", "CD"])
_OTHER_TAGS = frozenset(["IN", "RB", "VBZ", "VBP"])  # replaced less often
_SHARES = (0, 0, 0.05, 0.1, 0.25)  # of words that are replaced
_LONGEST_PART, _LENGTHS = 14, range(5, 16)

Span = tuple[int, int, tuple[str, str]]
Tokens = list[tuple[str, str]]


@dataclass(frozen=True)
class _Tree:
    """A sentence's words with their tags, and its subtrees by place, relation and tag."""

    tokens: Tokens
    spans: list[Span]


def _tree(sentence: Sentence) -> _Tree:
    tokens = [
        (word if tag.startswith("NNP") or word == "I" else word.lower(), tag)
        for word, tag in zip(sentence.words, sentence.tags, strict=True)
    ]
    below: dict[int, list[int]] = defaultdict(list)
    for governor, dependent, _ in sentence.basic:
        below[governor].append(dependent)
    spans = []
    for _, dependent, name in sentence.basic:
        relation = name.split(":")[0]
        if relation in _PARTS:
            places, waiting = {dependent}, [dependent]
            while waiting:
                more = set(below[waiting.pop()]) - places
                places |= more
                waiting += sorted(more)
            start, stop = min(places), max(places) + 1
            if stop - start == len(places) <= min(_LONGEST_PART, len(tokens) - 1):
                spans.append((start, stop, (relation, sentence.tags[dependent])))
    return _Tree(tokens, spans)


def recombine(
    sentences: Sequence[Sentence],
    count: int,
    seed: int = 2,
    without: Iterable[str] = (),
) -> Iterator[str]:
    """Yield new captions, no two of the same words and none of the words of one of `without`."""
    chance = random.Random(seed)
    trees = [_tree(one) for one in sentences if 3 <= len(one.words) <= 40]
    parts: dict[tuple[str, str], list[Tokens]] = defaultdict(list)
    words: dict[str, Counter[str]] = defaultdict(Counter)
    for tree in trees:
        for start, stop, kind in tree.spans:
            parts[kind].append(tree.tokens[start:stop])
        for word, tag in tree.tokens:
            words[tag][word] += 1
    pools = {  # rare words more often than they are
        tag: chance.choices(
            list(words[tag]), [seen**0.5 for seen in words[tag].values()], k=20_000
        )
        for tag in sorted(_OPEN_TAGS | _OTHER_TAGS)
        if tag in words
    }
    made = set(map(plain, without))
    while count:
        tree = chance.choice(trees)
        tokens = list(tree.tokens)
        for start, stop, kind in _choose(tree.spans, chance.choice((1, 1, 2)), chance):
            tokens[start:stop] = chance.choice(parts[kind])
        share = chance.choice(_SHARES)
        for place, (_, tag) in enumerate(tokens):
            own = share if tag in _OPEN_TAGS else 0.3 * share
            if tag in pools and chance.random() < own:
                tokens[place] = chance.choice(pools[tag]), tag
        caption = _written([word for word, _ in tokens], chance)
        if (
            len(tokens) in _LENGTHS
            and plain(caption) not in made
            and "-lrb-" not in caption
        ):
            made.add(plain(caption))
            count -= 1
            yield caption


def _choose(spans: list[Span], count: int, chance: random.Random) -> list[Span]:
    """Choose subtrees that do not overlap, the last first."""
    chosen: list[Span] = []
    for span in chance.sample(spans, len(spans)):
        apart = all(span[1] <= start or span[0] >= stop for start, stop, _ in chosen)
        if apart and len(chosen) < count:
            chosen.append(span)
    return sorted(chosen, reverse=True)


def _written(words: list[str], chance: random.Random) -> str:
    """Write words as tokens in lower case without signs, or as text."""
    if chance.random() < 0.5:
        return " ".join(
            w.lower() for w in words if w == "'s" or any(map(str.isalnum, w))
        )
    text = " ".join(words[:-1] if words[-1] == "." else words)
    text = (
        text.replace(" 's", "'s")
        .replace(" n't", "n't")
        .replace(" ,", chance.choice((",", " ,")))
    )
    return text[:1].upper() + text[1:] + chance.choice((".", ".", " .", " .", ""))


def most_unsure(
    captions: Sequence[str], weights: Path, count: int, seed: int = 5
) -> list[str]:
    """Return captions at random from those that a network is least sure of, for their length."""
    model, vocabulary = load_model(weights)
    codes = {word: code for code, word in enumerate(vocabulary["words"])}
    by_length: dict[int, list[tuple[str, list[str]]]] = defaultdict(list)
    for caption in captions:
        tokens = [token for one in cut_sentences(caption) for token in one]
        if tokens:
            by_length[len(tokens)].append((caption, tokens))
    doubts: dict[str, float] = {}
    for length, some in by_length.items():
        for start in range(0, len(some), 200):
            part = some[start : start + 200]
            with torch.no_grad():
                _, tags, pairs, _ = model(
                    torch.tensor(
                        [[codes.get(word_form(t), 0) for t in row] for _, row in part]
                    ),
                    torch.tensor([[affixes(t) for t in row] for _, row in part]),
                    torch.tensor([[shape(t) for t in row] for _, row in part]),
                )
            chances = pairs.sigmoid()
            doubt = torch.minimum(chances, 1 - chances).sum((1, 2))
            doubt += 0.5 * (1 - tags.softmax(-1).amax(-1)).sum(1)
            doubts.update(
                zip((text for text, _ in part), (doubt / length).tolist(), strict=True)
            )
    ranked = sorted(doubts, key=lambda text: (-doubts[text], text))
    # the first make no sense
    chosen = ranked[int(0.03 * len(ranked)) : int(0.6 * len(ranked))]
    random.Random(seed).shuffle(chosen)
    return chosen[:count]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    command = argparse.ArgumentParser(prog="parsing.recombine", description=__doc__)
    command.add_argument("parsed", nargs="+", type=Path)
    command.add_argument("--count", type=int, required=True)
    command.add_argument("--without", type=Path)
    command.add_argument("--unsure", type=Path)
    command.add_argument("--out", type=Path, required=True)
    given = command.parse_args(arguments)
    sentences = [
        one for caption in read_parsed(given.parsed) for one in caption.sentences
    ]
    without = given.without.read_text("utf-8").splitlines() if given.without else []
    count = given.count * (2 if given.unsure else 1)
    captions = list(recombine(sentences, count, without=without))
    if given.unsure:
        captions = most_unsure(captions, given.unsure, given.count)
    given.out.write_text(
        "".join(f"{caption}\n" for caption in captions), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
