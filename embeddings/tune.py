"""Tune the sentence model so that nouns of one synset are near and related nouns are not.

The loss of a batch of nouns is the sum of

- a logistic loss of the cosines of all pairs, by kind of pair: same against siblings, hypernyms,
  distant relatives and unrelated nouns. Scale and threshold of the logistic function are learned.
- a contrastive loss: the synonyms of each noun against all nouns of the batch,
- the mean square of how far the cosines of unrelated nouns move from the static model's.

The nouns of a batch come from a few neighbourhoods of WordNet, so that it has many pairs of each
kind. Some nouns are replaced by their plurals.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray

from embeddings import sources, wordnet
from embeddings.constraints import RELATED, Constraints, Relations
from embeddings.relations import Lexicon
from semmetrics.embed.static import StaticEmbedder

__all__ = ["TunedModel", "tune"]

STEPS = 400
BATCH = 512
_RATE = 2e-4
_RATE_OF_THRESHOLD = 5e-3
_DECAY = 0.01
_DROPOUT = 0.1
_CLIP = 1.0
_TEMPERATURE = 0.05
_WEIGHTS = {"sibling": 1.0, "hypernym": 0.75, "distant": 0.25, "unrelated": 0.6}
_CONTRAST = 0.1
_KEEP = 1.0
_PLURALS = 0.1
_SEED = 20261129
_CHUNK = 128
_BLOCK = 4096
_REPORT = 100
_START = {"scale": 12.0, "threshold": 0.5}

Matrix = NDArray[np.float32]


class TunedModel:
    """The sentence model all-MiniLM-L6-v2, which can be tuned.

    Parameters
    ----------
    weights : Path, optional
        Weights that `tune` saved. Default: the published ones.
    """

    def __init__(self, weights: Path | None = None) -> None:
        os.environ["HF_HUB_OFFLINE"] = "1"
        os.environ["TOKENIZERS_PARALLELISM"] = "false"
        from transformers import AutoModel, AutoTokenizer

        folder = sources.SENTENCE_MODEL.locate().parent
        self._tokenizer = AutoTokenizer.from_pretrained(folder)
        self.network: Any = AutoModel.from_pretrained(
            folder, hidden_dropout_prob=_DROPOUT, attention_probs_dropout_prob=_DROPOUT
        )
        if weights is not None:
            self.network.load_state_dict(torch.load(weights, weights_only=True))
        self.network.eval()

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of texts."""
        found: list[list[int]] = self._tokenizer(list(texts))["input_ids"]
        return found

    def encode(self, tokens: Sequence[list[int]]) -> torch.Tensor:
        """Return vectors of length 1, shape (texts, 384), of texts in tokens.

        Texts of like length are computed together, in half precision.
        """
        lengths = np.array([len(text) for text in tokens])
        order = np.argsort(lengths, kind="stable")
        means = []
        for places in np.array_split(order, -(-len(order) // _CHUNK)):
            width = int(lengths[places].max())
            ids = torch.zeros((len(places), width), dtype=torch.long)
            for row, place in enumerate(places.tolist()):
                ids[row, : lengths[place]] = torch.tensor(tokens[place])
            mask = torch.arange(width) < torch.tensor(lengths[places])[:, None]
            with torch.autocast("cpu", dtype=torch.bfloat16):
                states = self.network(
                    input_ids=ids, attention_mask=mask
                ).last_hidden_state
            weights = mask[:, :, None].float()
            means.append((states.float() * weights).sum(1) / weights.sum(1))
        back = torch.empty(len(order), dtype=torch.long)
        back[torch.as_tensor(order)] = torch.arange(len(order))
        return F.normalize(torch.cat(means)[back], dim=1)

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of texts, without dropout."""
        tokens = self.tokens(texts)
        starts = range(0, len(tokens), _BLOCK)
        with torch.no_grad():
            blocks = [
                self.encode(tokens[start : start + _BLOCK]).numpy() for start in starts
            ]
        return np.concatenate(blocks)


class _Loss(torch.nn.Module):
    """The loss of a batch, with the scale and the threshold of its logistic function."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.tensor(_START["scale"]))
        self.threshold = torch.nn.Parameter(torch.tensor(_START["threshold"]))

    def forward(
        self, vectors: torch.Tensor, relations: Relations, before: torch.Tensor
    ) -> torch.Tensor:
        """Return the loss.

        Parameters
        ----------
        vectors : tensor, shape (nouns, dimension)
        relations : Relations
        before : tensor, shape (nouns, nouns)
            Cosines of the static model.
        """
        cosines = vectors @ vectors.T
        logits = self.scale * (cosines - self.threshold)
        once = np.triu(np.ones(relations.same.shape, np.bool_), 1)
        same = torch.as_tensor(relations.same & once)
        loss = F.softplus(-logits[same]).mean()
        masks = {**relations.related, "unrelated": relations.unrelated}
        for kind in (*RELATED, "unrelated"):
            pairs = torch.as_tensor(masks[kind] & once)
            if pairs.any():
                loss = loss + _WEIGHTS[kind] * F.softplus(logits[pairs]).mean()
        unrelated = torch.as_tensor(relations.unrelated & once)
        moved = (cosines - before)[unrelated].square().mean()
        return loss + _CONTRAST * _contrast(cosines, relations) + _KEEP * moved


def _contrast(cosines: torch.Tensor, relations: Relations) -> torch.Tensor:
    """Return the mean negative log-probability of synonyms among the nouns of a batch."""
    same = torch.as_tensor(relations.same)
    compared = same | torch.as_tensor(relations.unrelated)
    for mask in relations.related.values():
        compared |= torch.as_tensor(mask)
    has_synonym = same.any(1)
    logits = (cosines / _TEMPERATURE).masked_fill(~compared, -1e4)
    log_probability = logits[has_synonym].log_softmax(1)
    synonyms = same[has_synonym]
    return -((log_probability * synonyms).sum(1) / synonyms.sum(1)).mean()


def tune(
    lexicon: Lexicon,
    weights: Path,
    *,
    held_out: Sequence[str] = ("test",),
    steps: int = STEPS,
) -> TunedModel:
    """Tune the sentence model on WordNet, or read the weights if they are there.

    Parameters
    ----------
    lexicon : Lexicon
    weights : Path
        Where the weights are kept. They are not part of the package.
    held_out : sequence of str
        Folds that the model is not tuned on.
    steps : int
    """
    if weights.exists():
        return TunedModel(weights)
    model = TunedModel()
    _train(model, lexicon, held_out, steps)
    weights.parent.mkdir(parents=True, exist_ok=True)
    torch.save(model.network.state_dict(), weights)
    return model


def _train(
    model: TunedModel, lexicon: Lexicon, held_out: Sequence[str], steps: int
) -> None:
    torch.manual_seed(_SEED)
    random = np.random.default_rng(_SEED)
    constraints = Constraints(lexicon, held_out)
    tokens = model.tokens(constraints.texts)
    plurals = wordnet.plurals(lexicon.nouns.values())
    tokens_of_plurals = model.tokens(
        [plurals.get(text, text) for text in constraints.texts]
    )
    static = StaticEmbedder().embed(constraints.texts).vectors
    loss_of = _Loss()
    parameters = []
    for name, parameter in model.network.named_parameters():
        if name.startswith("embeddings."):  # tuned, they would only be learnt by heart
            parameter.requires_grad_(False)
        else:
            parameters.append(parameter)
    optimizer = torch.optim.AdamW(
        [
            {"params": parameters, "weight_decay": _DECAY},
            {"params": loss_of.parameters(), "weight_decay": 0.0},
        ]
    )
    rates = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=[_RATE, _RATE_OF_THRESHOLD], total_steps=steps, pct_start=0.1
    )
    model.network.train()
    losses = []
    for step in range(1, steps + 1):
        numbers = constraints.sample(random, BATCH)
        relations = constraints.relations(numbers)
        is_plural = random.random(BATCH) < _PLURALS
        batch = []
        for number, plural in zip(numbers.tolist(), is_plural.tolist(), strict=True):
            batch.append(tokens_of_plurals[number] if plural else tokens[number])
        before = torch.as_tensor(static[numbers] @ static[numbers].T)
        loss = loss_of(model.encode(batch), relations, before)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, _CLIP)
        optimizer.step()
        rates.step()
        losses.append(loss.item())
        if step % _REPORT == 0:
            print(
                f"step {step} of {steps}, loss {np.mean(losses[-_REPORT:]):.4f}",
                flush=True,
            )
    model.network.eval()
