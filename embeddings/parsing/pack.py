"""Pack trained weights into the file that ships with the package.

    python -m embeddings.parsing.pack weights.pt PARSED... [--threshold X] [--out FILE]

Matrices become integers of eight bits with a scale a column, tables of vectors with a scale a row.
The parsed captions give the lemmas that rules do not.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from embeddings.parsing.model import Attention, Parser, Sizes
from embeddings.parsing.sentences import Sentence, read_parsed
from semmetrics.text.lemmas import Lemmas
from semmetrics.text.offline_parser import DATA

__all__ = ["lemma_exceptions", "load_model", "main", "pack"]


def load_model(path: Path) -> tuple[Parser, dict[str, Any]]:
    """Return a trained network, to be used, and its vocabulary."""
    found = torch.load(path, weights_only=True)
    model = Parser(Sizes(**found["sizes"]))
    model.load_state_dict(found["state"])
    return model.eval(), found["vocabulary"]


def lemma_exceptions(sentences: Iterable[Sentence]) -> dict[str, str]:
    """Return the lemmas of words for which the rules give another."""
    seen: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for one in sentences:
        for word, tag, lemma in zip(one.words, one.tags, one.lemmas, strict=True):
            seen[Lemmas.key(word.lower(), tag)][lemma.lower(), tag] += 1
    found = {}
    for key, votes in sorted(seen.items()):
        (lemma, tag), _ = votes.most_common(1)[0]
        if Lemmas.by_rule(key.split(" ", 1)[1], tag) != lemma:
            found[key] = lemma
    return found


def pack(
    model: Parser,
    vocabulary: dict[str, Any],
    lemmas: dict[str, str],
    threshold: float = 0.0,
) -> dict[str, Any]:
    """Return the arrays of the file; a pair with a score above the threshold has an edge."""
    arrays: dict[str, Any] = {
        "ends": _floats(model.ends),
        "tag_vectors": _floats(model.tag_vectors.weight),
        "pair_distances": _floats(model.pair_distances),
        "relation_distances": _floats(model.relation_distances),
        "settings": _text(
            {
                **{key: vocabulary[key] for key in ("words", "tags", "labels")},
                "tagger": model.sizes.tagger,
                "parser": model.sizes.parser,
                "threshold": threshold,
            }
        ),
        "lemmas": _text(lemmas),
    }
    for name in ("words", "affixes", "shapes"):
        rows = _floats(getattr(model, name).weight)
        scales = np.maximum(np.abs(rows).max(axis=1) / 127, 1e-9)
        arrays[f"{name}.rows"] = np.rint(rows / scales[:, None]).astype(np.int8)
        arrays[f"{name}.scales"] = scales.astype(np.float32)
    for name in ("word_norm", "tag_norm", "tagger_norm", "parser_norm"):
        arrays.update(_norm(name, getattr(model, name)))
    for name in ("tagger", "parser"):
        for place, block in enumerate(getattr(model, name)):
            arrays.update(_block(f"{name}{place}", block))
    root = math.sqrt(model.sizes.rank)
    governor = model.governor.weight / root, model.governor.bias / root
    pair = (governor, *map(_parts, (model.dependent, model.governs, model.depends)))
    arrays.update(_linear("pair", *pair))
    arrays.update(_linear("relation", _parts(model.above), _parts(model.below)))
    arrays.update(_linear("relation_out", _parts(model.relation_out)))
    arrays.update(_linear("tag", _parts(model.tag)))
    return arrays


_Parts = tuple[torch.Tensor, torch.Tensor]


def _block(at: str, block: nn.Module) -> dict[str, Any]:
    arrays = _norm(f"{at}.norm", block.norm)
    if isinstance(block, Attention):
        arrays |= _norm(f"{at}.inner_norm", block.inner_norm)
        arrays[f"{at}.distances"] = _floats(block.distances)
        names = ("projections", "out", "inner", "inner_out")
    else:
        weight = block.window.weight.permute(0, 2, 1).flatten(1)
        arrays |= _linear(f"{at}.window", (weight, block.window.bias))
        names = ("out",)
    for name in names:
        arrays |= _linear(f"{at}.{name}", _parts(getattr(block, name)))
    return arrays


def _parts(layer: nn.Linear) -> _Parts:
    return layer.weight, layer.bias


def _linear(name: str, *layers: _Parts) -> dict[str, Any]:
    """Return a matrix, layers side by side, as integers with a scale a column."""
    weight = np.concatenate([_floats(weight).T for weight, _ in layers], axis=1)
    scale = np.maximum(np.abs(weight).max(axis=0) / 127, 1e-9)
    return {
        f"{name}.weight": np.rint(weight / scale).astype(np.int8),
        f"{name}.scale": scale.astype(np.float32),
        f"{name}.bias": np.concatenate([_floats(bias) for _, bias in layers]),
    }


def _norm(name: str, norm: nn.LayerNorm) -> dict[str, Any]:
    return {f"{name}.gain": _floats(norm.weight), f"{name}.bias": _floats(norm.bias)}


def _floats(values: torch.Tensor) -> Any:
    return values.detach().numpy().astype(np.float32)


def _text(value: object) -> Any:
    return np.frombuffer(json.dumps(value, ensure_ascii=False).encode(), np.uint8)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    command = argparse.ArgumentParser(prog="parsing.pack", description=__doc__)
    command.add_argument("weights", type=Path)
    command.add_argument("parsed", nargs="+", type=Path)
    command.add_argument("--threshold", type=float, default=0.0)
    command.add_argument("--out", type=Path, default=DATA)
    given = command.parse_args(arguments)
    sentences = (
        one for caption in read_parsed(given.parsed) for one in caption.sentences
    )
    arrays = pack(
        *load_model(given.weights), lemma_exceptions(sentences), given.threshold
    )
    given.out.parent.mkdir(exist_ok=True)
    with given.out.open("wb") as file:
        np.savez(file, **arrays)
    print(f"{given.out}: {given.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
