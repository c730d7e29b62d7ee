"""The network in torch, to be trained; `semmetrics.text.network` computes the same."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from semmetrics.text.parser_tokens import BUCKETS, SHAPES

__all__ = ["Attention", "Convolution", "Parser", "Sizes"]


@dataclass(frozen=True)
class Sizes:
    """Sizes of the network.

    Attributes
    ----------
    words, tags, labels : int
        Of the vocabularies.
    tagger, parser : tuple of str
        The blocks.
    """

    words: int
    tags: int
    labels: int
    tagger: tuple[str, ...] = ("convolution", "attention", "attention")
    parser: tuple[str, ...] = ("convolution", "attention", "attention", "attention")
    width: int = 128
    heads: int = 4
    inner: int = 256
    rank: int = 96
    reach: int = 12
    pair_reach: int = 15
    dropout: float = 0.12


class _Dropout(nn.Module):
    """Leaves out a share of values, as `nn.Dropout` does, but faster on processors."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def forward(self, values: Tensor) -> Tensor:
        """Return the values, some of them 0."""
        if not (self.training and self.share):
            return values
        kept = torch.rand(values.shape) >= self.share
        return values * (kept / (1 - self.share))


class Convolution(nn.Module):
    """Adds to each token what it and its neighbours say."""

    def __init__(self, sizes: Sizes, window: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(sizes.width)
        self.window = nn.Conv1d(sizes.width, sizes.width, window, padding=window // 2)
        self.out = nn.Linear(sizes.width, sizes.width)
        self.drop = _Dropout(sizes.dropout)

    def forward(self, values: Tensor) -> Tensor:
        """Return the vectors with what is added."""
        hidden = self.window(self.norm(values).transpose(1, 2)).transpose(1, 2)
        return values + self.drop(self.out(functional.relu(hidden)))


class Attention(nn.Module):
    """Adds to each token what tokens of the whole sentence say, then a layer of its own."""

    def __init__(self, sizes: Sizes, inner: int) -> None:
        super().__init__()
        width = sizes.width
        self.heads, self.reach = sizes.heads, sizes.reach
        self.norm, self.inner_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.projections, self.out = (
            nn.Linear(width, 3 * width),
            nn.Linear(width, width),
        )
        self.inner, self.inner_out = nn.Linear(width, inner), nn.Linear(inner, width)
        self.distances = nn.Parameter(torch.zeros(sizes.heads, 2 * sizes.reach + 1))
        self.drop = _Dropout(sizes.dropout)

    def forward(self, values: Tensor) -> Tensor:
        """Return the vectors with what is added."""
        sentences, length, width = values.shape
        parts = self.projections(self.norm(values))
        parts = parts.view(sentences, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        scores = query @ key.transpose(-1, -2) / math.sqrt(width // self.heads)
        scores = scores + self.distances[:, distances(length, self.reach)]
        seen = (
            (self.drop(scores.softmax(-1)) @ value)
            .transpose(1, 2)
            .reshape(values.shape)
        )
        values = values + self.drop(self.out(seen))
        hidden = self.drop(functional.relu(self.inner(self.inner_norm(values))))
        return values + self.drop(self.inner_out(hidden))


def distances(length: int, reach: int) -> Tensor:
    """Return from each token to each other one how far it is, as a place in a table."""
    places = torch.arange(length)
    return (places - places[:, None]).clamp(-reach, reach) + reach


class _Trees(nn.Module):
    """Scores of the governors of tokens, the root first."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.head, self.tail = nn.Linear(width, 64), nn.Linear(width, 64)
        self.root = nn.Linear(width, 1)

    def forward(self, values: Tensor) -> Tensor:
        """Return scores of each governor (rows) for each token (columns)."""
        scores = self.head(values) @ self.tail(values).transpose(1, 2) / 8
        return torch.cat([self.root(values).transpose(1, 2), scores], 1)


class Parser(nn.Module):
    """Finds tags, then the pairs of tokens with an edge, then the relation of each."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        width = sizes.width
        self.sizes = sizes
        self.words = nn.Embedding(sizes.words, width)
        self.affixes = nn.EmbeddingBag(BUCKETS, width, mode="sum")
        self.shapes = nn.Embedding(SHAPES, width)
        self.tag_vectors = nn.Embedding(sizes.tags, width)
        for table in (self.words, self.affixes, self.shapes):
            nn.init.normal_(table.weight, 0, 0.3)
        nn.init.normal_(self.tag_vectors.weight, 0, 0.7)
        self.ends = nn.Parameter(torch.zeros(2, width))
        # in place of a word left out
        self.hidden_word = nn.Parameter(torch.zeros(width))
        self.word_norm, self.tagger_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.tag_norm, self.parser_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.tagger = _blocks(sizes, sizes.tagger, 3, sizes.inner // 2)
        self.parser = _blocks(sizes, sizes.parser, 5, sizes.inner)
        self.tag = nn.Linear(width, sizes.tags)
        self.governor, self.dependent = (
            nn.Linear(width, sizes.rank),
            nn.Linear(width, sizes.rank),
        )
        self.governs, self.depends = nn.Linear(width, 1), nn.Linear(width, 1)
        self.pair_distances = nn.Parameter(torch.zeros(2 * sizes.pair_reach + 1))
        # the one governor of the basic tree: learned beside, and not shipped
        self.tagger_trees, self.parser_trees = _Trees(width), _Trees(width)
        self.above, self.below = nn.Linear(width, width), nn.Linear(width, width)
        self.relation_distances = nn.Parameter(
            torch.zeros(2 * sizes.pair_reach + 1, width)
        )
        self.relation_out = nn.Linear(width, sizes.labels)
        self.drop = _Dropout(sizes.dropout)

    def tagged(
        self, words: Tensor, affixes: Tensor, shapes: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return vectors of tokens, those of the ends, scores of tags, and of basic governors.

        Parameters
        ----------
        words, shapes : tensor, shape (sentences, tokens)
        affixes : tensor, shape (sentences, tokens, affixes)
        """
        vectors = self.words(words) + self.shapes(shapes)
        vectors = vectors + self.affixes(affixes.flatten(0, 1)).view_as(vectors)
        ends = torch.zeros(vectors.shape[1:])
        ends[0] = ends[0] + self.ends[0]
        ends[-1] = ends[-1] + self.ends[1]
        tagged = self.tagger(self.drop(self.word_norm(vectors + ends)))
        tagged = self.drop(self.tagger_norm(tagged))
        return vectors, ends, self.tag(tagged), self.tagger_trees(tagged)

    def forward(
        self,
        words: Tensor,
        affixes: Tensor,
        shapes: Tensor,
        tags: Tensor | None = None,
        kept: Tensor | None = None,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return vectors of tokens, scores of tags, of pairs, and twice of basic governors.

        Parameters
        ----------
        words, shapes : tensor, shape (sentences, tokens)
        affixes : tensor, shape (sentences, tokens, affixes)
        tags : tensor, shape (sentences, tokens), optional
            What the parser is told in place of the tagger's result.
        kept : tensor of bool, shape (sentences, tokens), optional
            Words that the parser may see.
        """
        vectors, ends, tag_scores, trees = self.tagged(words, affixes, shapes)
        if tags is None:
            tags = tag_scores.argmax(-1)
        if kept is not None:
            vectors = torch.where(kept[..., None], vectors, self.hidden_word)
        found = self.parser(
            self.drop(self.tag_norm(vectors + self.tag_vectors(tags) + ends))
        )
        found = self.drop(self.parser_norm(found))
        pairs = self.governor(found) @ self.dependent(found).transpose(1, 2)
        pairs = pairs / math.sqrt(self.sizes.rank) + self.governs(found)
        pairs = pairs + self.depends(found).transpose(1, 2)
        pairs = (
            pairs
            + self.pair_distances[distances(words.shape[1], self.sizes.pair_reach)]
        )
        return found, tag_scores, pairs, torch.stack([trees, self.parser_trees(found)])

    def relations(
        self, found: Tensor, sentence: Tensor, governor: Tensor, dependent: Tensor
    ) -> Tensor:
        """Return scores of relations of pairs of tokens."""
        reach = self.sizes.pair_reach
        hidden = (
            self.above(found)[sentence, governor]
            + self.below(found)[sentence, dependent]
        )
        apart = (dependent - governor).clamp(-reach, reach) + reach
        hidden = functional.relu(hidden + self.relation_distances[apart])
        scores: Tensor = self.relation_out(self.drop(hidden))
        return scores


def _blocks(
    sizes: Sizes, kinds: tuple[str, ...], window: int, inner: int
) -> nn.Sequential:
    return nn.Sequential(
        *(
            Convolution(sizes, window)
            if kind == "convolution"
            else Attention(sizes, inner)
            for kind in kinds
        )
    )
