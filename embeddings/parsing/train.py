"""Train the network of the offline parser on parsed captions.

    python -m embeddings.parsing.train PARSED... --out weights.pt
        [--dev PARSED...] [--start weights.pt]

The tagger and the parser are trained together, but the parser is told the true tags, and most words
of open classes are hidden from it: the official parser's grammar sees a noun or a verb as little
more than its tag, and so its attachments are learned from few captions.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from embeddings.parsing.model import Parser, Sizes
from embeddings.parsing.sentences import Sentence, read_parsed
from semmetrics.text.parser_tokens import affixes, shape, word_form

__all__ = ["Batch", "Schedule", "Vocabulary", "main", "train"]

# Tags of words whose form counts for the grammar, and verbs that do.
_CLOSED_TAGS = frozenset(
    [
        "IN",
        "TO",
        "DT",
        "CC",
        "PRP",
        "PRP$",
        "WP",
        "WP$",
        "WDT",
        "WRB",
        "MD",
        "RP",
        "EX",
        "PDT",
        "POS",
        ",",
        ".",
        ":",
    ]
)
_CLOSED_WORDS = frozenset(
    [
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "being",
        "has",
        "have",
        "had",
        "does",
        "do",
    ]
)
_HIDDEN, _HIDDEN_CLOSED = 0.6, 0.05
_UNKNOWN = 0.5  # a word seen n times is unknown once in 1 + n / this
_COMMON = 2  # times that a word of the vocabulary is seen
_COMMON_LABEL = 15
_LONGEST = 80
_TOKENS = 1200  # in a batch
_WARM = 300  # steps until the rate is reached


@dataclass(frozen=True)
class Vocabulary:
    """Words, tags and labels by their codes; word 0 is any other word."""

    words: list[str]
    counts: list[int]
    tags: list[str]
    labels: list[str]

    @classmethod
    def of(cls, sentences: Sequence[Sentence]) -> Vocabulary:
        """Return what sentences are made of."""
        words = Counter(word_form(word) for one in sentences for word in one.words)
        kept = [
            (word, count) for word, count in words.most_common() if count >= _COMMON
        ]
        tags = sorted({tag for one in sentences for tag in one.tags})
        relations = Counter(name for one in sentences for *_, name in one.edges)
        labels = {name for name, count in relations.items() if count >= _COMMON_LABEL}
        return cls(
            ["", *(word for word, _ in kept)],
            [0, *(count for _, count in kept)],
            tags,
            sorted(labels | {"dep", "nmod:?"}),
        )

    def of_more(self, sentences: Sequence[Sentence]) -> Vocabulary:
        """Return these words, tags and labels with the counts and the other words of sentences."""
        counts = Counter(word_form(word) for one in sentences for word in one.words)
        known = set(self.words)
        more = [
            w
            for w, count in counts.most_common()
            if count >= _COMMON and w not in known
        ]
        words = [*self.words, *more]
        return Vocabulary(
            words, [0, *(counts[w] for w in words[1:])], self.tags, self.labels
        )

    def label(self, relation: str) -> int:
        """Return the code of a relation; a rare one loses its preposition."""
        if relation not in self.labels:
            kind = relation.partition(":")[0]
            relation = (
                "nmod:?" if kind == "nmod" else kind if kind in self.labels else "dep"
            )
        return self.labels.index(relation)


@dataclass(frozen=True)
class Batch:
    """Sentences of one length as tensors: tokens by sentence, edges in one row."""

    words: Tensor
    affixes: Tensor
    shapes: Tensor
    tags: Tensor
    heads: Tensor
    sentence: Tensor
    governor: Tensor
    dependent: Tensor
    label: Tensor


class _Coder:
    """Turns sentences into numbers."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._words = {word: code for code, word in enumerate(vocabulary.words)}
        self._tags = {tag: code for code, tag in enumerate(vocabulary.tags)}
        self._label = vocabulary.label
        self._known: dict[str, tuple[int, list[int], int]] = {}
        self._labels: dict[str, int] = {}

    def batch(self, sentences: Sequence[Sentence]) -> Batch:
        """Return sentences of one length as a batch."""
        coded = [[self._word(word) for word in one.words] for one in sentences]
        edges = [
            (place, governor, dependent, self._relation(name))
            for place, one in enumerate(sentences)
            for (governor, dependent), name in {
                (g, d): r for g, d, r in one.edges[::-1]
            }.items()
        ]
        heads = np.zeros((len(sentences), len(coded[0])), np.int64)
        for place, one in enumerate(sentences):
            for governor, dependent, _ in one.basic:
                heads[place, dependent] = governor + 1
        words, parts, shapes = (
            torch.tensor([[token[k] for token in row] for row in coded])
            for k in range(3)
        )
        columns = torch.tensor(edges, dtype=torch.int64).reshape(-1, 4).T
        tags = torch.tensor(
            [[self._tags.get(tag, 0) for tag in one.tags] for one in sentences]
        )
        return Batch(words, parts, shapes, tags, torch.from_numpy(heads), *columns)

    def _word(self, word: str) -> tuple[int, list[int], int]:
        if word not in self._known:
            code = self._words.get(word_form(word), 0)
            self._known[word] = code, affixes(word), shape(word)
        return self._known[word]

    def _relation(self, name: str) -> int:
        if name not in self._labels:
            self._labels[name] = self._label(name)
        return self._labels[name]


def _batches(sentences: Sequence[Sentence], coder: _Coder) -> list[Batch]:
    """Return sentences of one length together."""
    by_length: dict[int, list[Sentence]] = defaultdict(list)
    for one in sentences:
        by_length[len(one.words)].append(one)
    batches = []
    for length, some in by_length.items():
        size = max(1, _TOKENS // length)
        starts = range(0, len(some), size)
        batches += [coder.batch(some[start : start + size]) for start in starts]
    return batches


def _loss(
    model: Parser,
    batch: Batch,
    counts: Tensor,
    hidden: Tensor,
    closed: Tensor,
    parse: bool,
) -> Tensor:
    """Return the loss of a batch, some words of which are unknown or hidden."""
    unknown = (
        torch.rand(batch.words.shape)
        < _UNKNOWN / (_UNKNOWN + counts[batch.words]) + 0.02
    )
    words = batch.words.masked_fill(unknown, 0)
    if not parse:
        _, _, tags, trees = model.tagged(words, batch.affixes, batch.shapes)
        return _tag_loss(tags, batch) + _tree_loss(trees, batch)
    share = torch.where(closed[batch.words], _HIDDEN_CLOSED, hidden[batch.tags])
    kept = torch.rand(batch.words.shape) >= share
    found, tags, pairs, trees = model(
        words, batch.affixes, batch.shapes, batch.tags, kept
    )
    truth = torch.zeros_like(pairs)
    truth[batch.sentence, batch.governor, batch.dependent] = 1
    loss = _tag_loss(tags, batch) + sum(_tree_loss(heads, batch) for heads in trees)
    loss = loss + functional.binary_cross_entropy_with_logits(
        pairs, truth, reduction="sum"
    ) / len(batch.tags.flatten())
    if len(batch.label):
        relations = model.relations(
            found, batch.sentence, batch.governor, batch.dependent
        )
        loss = loss + 0.5 * functional.cross_entropy(relations, batch.label)
    return loss


def _tag_loss(tags: Tensor, batch: Batch) -> Tensor:
    return functional.cross_entropy(tags.flatten(0, 1), batch.tags.flatten())


def _tree_loss(heads: Tensor, batch: Batch) -> Tensor:
    return 0.3 * functional.cross_entropy(
        heads.transpose(1, 2).flatten(0, 1), batch.heads.flatten()
    )


def _measure(model: Parser, batches: Sequence[Batch]) -> str:
    """Return the accuracy of tags, and F1 of edges with and without their relations."""
    model.eval()
    tokens = tags = found = true = edges = named = 0
    with torch.no_grad():
        for batch in batches:
            vectors, tag_scores, pairs, _ = model(
                batch.words, batch.affixes, batch.shapes
            )
            tokens += batch.tags.numel()
            tags += int((tag_scores.argmax(-1) == batch.tags).sum())
            truth = torch.full(pairs.shape, -1)
            truth[batch.sentence, batch.governor, batch.dependent] = batch.label
            places = (pairs > 0).nonzero(as_tuple=True)
            labels = model.relations(vectors, *places).argmax(-1)
            found, true = found + len(labels), true + len(batch.label)
            edges += int((truth[places] >= 0).sum())
            named += int((truth[places] == labels).sum())
    model.train()
    both, tokens = max(1, found + true), max(1, tokens)
    return f"tags {tags / tokens:.4f} edges {2 * edges / both:.4f} named {2 * named / both:.4f}"


class _Trainer:
    """A network that learns, and the moving average of its weights.

    Parameters
    ----------
    vocabulary : Vocabulary
    sizes : Sizes
    state : mapping from name to tensor, optional
        Weights to go on from.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        sizes: Sizes,
        state: dict[str, Tensor] | None = None,
    ) -> None:
        self.vocabulary, self.sizes, self.steps = vocabulary, sizes, 0
        self._model, self.average = Parser(sizes), Parser(sizes)
        if state is not None:
            self._model.load_state_dict(state)
        self.average.load_state_dict(self._model.state_dict())
        self._optimizer = torch.optim.AdamW(
            _groups(self._model), betas=(0.9, 0.98), fused=True
        )
        self._counts = torch.tensor(vocabulary.counts, dtype=torch.float32)
        self._closed = torch.tensor(
            [word in _CLOSED_WORDS for word in vocabulary.words]
        )
        self._hidden = torch.tensor(
            [
                _HIDDEN_CLOSED if tag in _CLOSED_TAGS else _HIDDEN
                for tag in vocabulary.tags
            ]
        )

    @classmethod
    def of(cls, sentences: Sequence[Sentence], options: dict[str, int]) -> _Trainer:
        """Begin with the words of sentences and random weights."""
        words = Vocabulary.of(sentences)
        return cls(
            words,
            Sizes(len(words.words), len(words.tags), len(words.labels), **options),
        )

    @classmethod
    def load(cls, path: Path, sentences: Sequence[Sentence]) -> _Trainer:
        """Go on from weights that were saved; new words of sentences begin as unknown ones."""
        found = torch.load(path, weights_only=True)
        words, state = (
            Vocabulary(**found["vocabulary"]).of_more(sentences),
            found["state"],
        )
        more = len(words.words) - found["sizes"]["words"]
        known = state["words.weight"]
        state["words.weight"] = torch.cat([known, known[:1].expand(more, -1)])
        return cls(words, Sizes(**{**found["sizes"], "words": len(words.words)}), state)

    def save(self, path: Path) -> None:
        """Write the average."""
        made = {"sizes": asdict(self.sizes), "vocabulary": asdict(self.vocabulary)}
        torch.save({**made, "state": self.average.state_dict()}, path)

    def learn(self, batch: Batch, rate: float, parse: bool = True) -> None:
        """Learn from a batch, at a rate that the first steps do not reach, or tags alone."""
        for group in self._optimizer.param_groups:
            group["lr"] = rate * min(1, (self.steps + 1) / _WARM)
        self._optimizer.zero_grad()
        _loss(
            self._model, batch, self._counts, self._hidden, self._closed, parse
        ).backward()
        torch.nn.utils.clip_grad_norm_(self._model.parameters(), 2.0)
        self._optimizer.step()
        self.steps += 1
        share = 1 - min(0.998, self.steps / (self.steps + 50))
        with torch.no_grad():
            torch._foreach_lerp_(
                list(self.average.parameters()), list(self._model.parameters()), share
            )


@dataclass(frozen=True)
class Schedule:
    """How long to train and how fast.

    Attributes
    ----------
    epochs : int
    minutes : float
        An earlier end; the learning rate falls towards the end that comes first.
    rate : float
        The highest learning rate.
    parsing : float
        Share of the batches that the parser learns from; the tagger learns from all.
    """

    epochs: int
    minutes: float = float("inf")
    rate: float = 2e-3
    parsing: float = 1.0

    def rates(self, steps: int) -> Iterator[float]:
        """Yield the learning rate of each step, until the end; there are so many in an epoch."""
        begun, planned = time.monotonic(), steps * self.epochs
        for step in range(planned):
            done = max(step / planned, (time.monotonic() - begun) / 60 / self.minutes)
            if done >= 1:
                return
            yield self.rate * (0.5 + 0.5 * math.cos(math.pi * done))


def train(
    sentences: Sequence[Sentence],
    dev: Sequence[Sentence],
    out: Path,
    schedule: Schedule,
    *,
    seed: int = 12,
    start: Path | None = None,
    **options: int,
) -> None:
    """Train the network, and write the moving average of its weights after each epoch.

    Parameters
    ----------
    sentences, dev : sequence of Sentence
        To learn from, and to report on.
    out : path
    schedule : Schedule
    seed : int
    start : path, optional
        Weights to go on from; tags, relations and sizes are then theirs.
    **options
        Other sizes of the network than those of `Sizes`.
    """
    torch.manual_seed(seed)
    order = random.Random(seed)
    sentences = [one for one in sentences if len(one.words) <= _LONGEST]
    order.shuffle(sentences)
    trainer = (
        _Trainer.load(start, sentences) if start else _Trainer.of(sentences, options)
    )
    coder = _Coder(trainer.vocabulary)
    batches, dev_batches = _batches(sentences, coder), _batches(dev, coder)
    begun, rates = time.monotonic(), schedule.rates(len(batches))
    for epoch in range(schedule.epochs):
        order.shuffle(batches)
        before = trainer.steps
        for batch, rate in zip(batches, rates, strict=False):
            trainer.learn(batch, rate, order.random() < schedule.parsing)
        spent = f"{time.monotonic() - begun:.0f} s"
        print(
            epoch + 1,
            trainer.steps,
            spent,
            _measure(trainer.average, dev_batches),
            flush=True,
        )
        trainer.save(out)
        if trainer.steps - before < len(batches):
            break


def _groups(model: Parser) -> list[dict[str, object]]:
    """Return parameters that decay, the matrices of layers, and the others."""
    plain, decaying = [], []
    tables = ("words.", "affixes.", "shapes.", "tag_vectors.")
    for name, values in model.named_parameters():
        (plain if values.ndim < 2 or name.startswith(tables) else decaying).append(
            values
        )
    return [
        {"params": plain, "weight_decay": 0.0},
        {"params": decaying, "weight_decay": 0.02},
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    command = argparse.ArgumentParser(prog="parsing.train", description=__doc__)
    command.add_argument("parsed", nargs="+", type=Path)
    command.add_argument("--dev", nargs="*", type=Path, default=[])
    command.add_argument("--out", type=Path, required=True)
    command.add_argument("--start", type=Path)
    command.add_argument("--rate", type=float, default=2e-3)
    command.add_argument("--parsing", type=float, default=1.0)
    command.add_argument("--epochs", type=int, default=30)
    command.add_argument("--minutes", type=float, default=float("inf"))
    command.add_argument("--threads", type=int, default=1)
    given = command.parse_args(arguments)
    torch.set_num_threads(given.threads)
    known, dev = (
        [one for caption in read_parsed(paths) for one in caption.sentences]
        for paths in (given.parsed, given.dev)
    )
    print(f"{len(known)} sentences to learn from, {len(dev)} to report on", flush=True)
    schedule = Schedule(given.epochs, given.minutes, given.rate, given.parsing)
    train(known, dev, given.out, schedule, start=given.start)


if __name__ == "__main__":
    main()
