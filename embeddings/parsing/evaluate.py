"""Measure how well the offline parser agrees with the official one, and write EVALUATION.md.

    python -m embeddings.parsing.evaluate --reference FOLDER --parsed FOLDER [--out FILE]

The second folder has `test-flickr30k.jsonl` and `test-regions.jsonl`, as `parsing.dump` makes them
of what `parsing.captions` lists.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from embeddings.parsing.sentences import Caption, Sentence, read_parsed
from semmetrics.data.judgement_files import read_judgements
from semmetrics.metrics.spice import spice_scores
from semmetrics.studies.correlations import correlation
from semmetrics.text.dependency_rules import scene_graph_tuples
from semmetrics.text.offline_parser import DATA, OfflineParser

__all__ = ["Items", "agreement", "fakecap", "flickr8k", "images_as_items", "main"]

Parses = dict[str, list[list[str]]]
Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Items:
    """Captions to score: candidates, their references, and the official parses of all.

    Attributes
    ----------
    ratings : list of float
        Of people; empty where there are none.
    """

    name: str
    candidates: list[str]
    references: list[list[str]]
    official: Parses
    ratings: list[float]

    def scores(self, parses: Parses) -> Scores:
        """Return SPICE of each item by some parses."""
        found = spice_scores(
            [parses[text] for text in self.candidates],
            [[parses[text] for text in several] for several in self.references],
        )
        return found["All"]["f"]


def _official(reference: Path, name: str) -> Parses:
    path = reference / "spice" / f"raw_tuples_{name}.jsonl.gz"
    lines = gzip.decompress(path.read_bytes()).decode("utf-8").splitlines()
    return {found["caption"]: found["tuples"] for found in map(json.loads, lines)}


def fakecap(reference: Path) -> Items:
    """Return COCO's example: 1,000 candidates of a captioner, 5 or 6 references, in tokens."""
    results, truths = (
        json.loads((reference / "coco" / f"fakecap_tokenized_{side}.json").read_text())
        for side in ("res", "gts")
    )
    candidates = [results[image][0] for image in truths]
    return Items(
        "fakecap",
        candidates,
        list(truths.values()),
        _official(reference, "fakecap"),
        [],
    )


def flickr8k(reference: Path) -> Items:
    """Return Flickr8k-Expert: 16,992 rated captions, 5 references, as raw text."""
    judged = read_judgements(reference / "flickr8k" / "flickr8k_expert.json")
    return Items(
        "Flickr8k-Expert",
        [text.strip() for text in judged.candidates],
        [[text.strip() for text in several] for several in judged.references],
        _official(reference, "flickr8k"),
        judged.values.tolist(),
    )


def images_as_items(
    name: str, captions: Sequence[Caption], images: Sequence[Sequence[str]]
) -> Items:
    """Return captions, each against the others of its image; images not parsed are left out."""
    official = {one.text: one.tuples for one in captions}
    pairs = [
        (text, [other for other in several if other != text])
        for several in images
        if len(set(several)) > 1 and all(text in official for text in several)
        for text in several
    ]
    return Items(
        name, [pair[0] for pair in pairs], [pair[1] for pair in pairs], official, []
    )


@dataclass(frozen=True)
class Agreement:
    """How the scores of two parsers agree."""

    items: int
    pearson: float
    official: float
    ours: float
    official_tau: float
    our_tau: float
    f1: float
    equal: float


def same_tuples(official: Parses, parses: Parses) -> tuple[float, float]:
    """Return F1 of tuples, and the share of captions without a difference."""
    both = total = equal = 0
    for text, tuples in official.items():
        truth, found = (Counter(map(tuple, some)) for some in (tuples, parses[text]))
        both += (truth & found).total()
        total, equal = total + truth.total() + found.total(), equal + (truth == found)
    return 2 * both / max(1, total), equal / max(1, len(official))


def agreement(items: Items, parses: Parses) -> Agreement:
    """Compare the scores and the tuples of some parses with the official ones."""
    theirs, ours = items.scores(items.official), items.scores(parses)
    return Agreement(
        len(theirs),
        float(np.corrcoef(theirs, ours)[0, 1]),
        float(theirs.mean()),
        float(ours.mean()),
        *(_tau(scores, items.ratings) for scores in (theirs, ours)),
        *same_tuples(items.official, parses),
    )


def _tau(scores: Scores, ratings: Sequence[float]) -> float:
    """Return Kendall's tau-c with people, in percent."""
    if not ratings:
        return float("nan")
    return 100 * correlation(scores, ratings, "kendall-c")


def parse(texts: Iterable[str]) -> Parses:
    """Parse captions with the parser that ships."""
    captions = list(texts)
    return dict(zip(captions, OfflineParser().parse(captions), strict=True))


def _count(one: Sentence, relation: str, exact: bool = False) -> int:
    return sum(
        name == relation or (not exact and name.startswith(f"{relation}:"))
        for *_, name in one.edges
    )


def _is_ing_noun(one: Sentence) -> bool:
    return any(
        w.endswith("ing") and t == "NN"
        for w, t in zip(one.words, one.tags, strict=True)
    )


# Constructions, by what the official grammar of a caption has.
_CONSTRUCTIONS: list[tuple[str, Callable[[Sentence], bool]]] = [
    ("all", lambda _: True),
    ("at most 8 words", lambda one: len(one.words) <= 8),
    ("more than 14 words", lambda one: len(one.words) > 14),
    ("one preposition or none", lambda one: _count(one, "case") <= 1),
    ("two prepositions", lambda one: _count(one, "case") == 2),
    ("three or more prepositions", lambda one: _count(one, "case") >= 3),
    ("'and' and other conjunctions", lambda one: _count(one, "conj") > 0),
    ("relative clause", lambda one: _count(one, "acl:relcl") > 0),
    (
        "participle after a noun ('a dog lying ...')",
        lambda one: _count(one, "acl", True) > 0,
    ),
    ("-ing form taken for a noun", _is_ing_noun),
    ("passive", lambda one: _count(one, "nsubjpass") > 0),
    ("'is' with a quality or a place", lambda one: _count(one, "cop") > 0),
    (
        "noun before a noun ('tennis court')",
        lambda one: _count(one, "compound", True) > 0,
    ),
    ("possessive", lambda one: _count(one, "nmod:poss") > 0),
    ("number", lambda one: _count(one, "nummod") > 0),
    ("'a lot of', 'a couple of'", lambda one: _count(one, "det:qmod") > 0),
]


def constructions(
    captions: Sequence[Caption], parses: Parses
) -> list[tuple[str, int, float, float]]:
    """Return for captions with a construction how many, F1 of tuples, and share without error."""
    rows = []
    for name, has in _CONSTRUCTIONS:
        some = {
            one.text: one.tuples for one in captions if any(map(has, one.sentences))
        }
        rows.append((name, len(some), *same_tuples(some, parses)))
    return rows


def by_length(
    captions: Sequence[Caption], parses: Parses
) -> list[tuple[str, int, int, int]]:
    """Return kinds of tuples: how many officially, how many missed, how many too many."""
    rows = []
    for size, name in ((1, "objects"), (2, "attributes"), (3, "relations")):
        there = missed = extra = 0
        for one in captions:
            truth, found = (
                Counter(tuple(t) for t in some if len(t) == size)
                for some in (one.tuples, parses[one.text])
            )
            there += truth.total()
            missed += (truth - found).total()
            extra += (found - truth).total()
        rows.append((name, there, missed, extra))
    return rows


def rules_alone(captions: Sequence[Caption]) -> tuple[float, float]:
    """Return precision and recall of the rules on the official grammar."""
    both = true = made = 0
    for one in captions:
        found = Counter(
            tuple(t)
            for s in one.sentences
            for t in scene_graph_tuples(
                s.tags, s.edges, [w.lower() for w in s.lemmas].__getitem__
            )
        )
        truth = Counter(map(tuple, one.tuples))
        both, true = both + (truth & found).total(), true + truth.total()
        made += found.total()
    return both / made, both / true


def speed(captions: Sequence[str]) -> float:
    """Return captions in a second of processor time, words that are seen again included.

    The parser works on one thread.
    """
    parser = OfflineParser()
    list(parser.parse(captions[:1000]))
    best = 0.0
    for _ in range(3):
        begun = time.process_time()
        list(parser.parse(captions))
        best = max(best, len(captions) / (time.process_time() - begun))
    return best


def report(reference: Path, parsed: Path) -> str:
    """Return the page."""
    captions = list(read_parsed([parsed / "test-flickr30k.jsonl"]))
    texts = (reference / "flickr30k" / "test_caps.txt").read_text("utf-8").splitlines()
    images = [texts[start : start + 5] for start in range(0, len(texts), 5)]
    sets = [
        fakecap(reference),
        flickr8k(reference),
        images_as_items("Flickr30k", captions, images),
    ]
    lines = [
        "# How well the offline parser agrees with SPICE's own",
        "",
        f"`{OfflineParser().identity}`, {DATA.stat().st_size / 1e6:.2f} MB. Written by "
        "`python -m embeddings.parsing.evaluate`. None of these captions was learned from,",
        "nor was anything chosen by them.",
        "",
        "| | items | Pearson's r | SPICE, official | offline | difference | tau-c, official "
        "| offline | F1 of tuples | captions without a difference |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for items in sets:
        found = agreement(items, parse(items.official))
        taus = [
            f"{tau:.2f}" if tau == tau else ""
            for tau in (found.official_tau, found.our_tau)
        ]
        lines.append(
            f"| {items.name} | {found.items:,} | {found.pearson:.4f} | {found.official:.5f} "
            f"| {found.ours:.5f} | {found.ours / found.official - 1:+.2%} | {taus[0]} | {taus[1]} "
            f"| {found.f1:.3f} | {found.equal:.1%} |"
        )
    regions = {
        one.text: one.tuples for one in read_parsed([parsed / "test-regions.jsonl"])
    }
    f1, equal = same_tuples(regions, parse(regions))
    lines.append(f"| regions |  |  |  |  |  |  |  | {f1:.3f} | {equal:.1%} |")
    coco = [text for text in sets[0].official if text]
    lines += [
        "",
        "fakecap: tokens of COCO; candidates of a captioner. Flickr8k-Expert: raw captions, rated "
        "by people.",
        "Flickr30k: raw captions of images left out, each against the others of its image.",
        f"Regions: {len(regions):,} short descriptions of Visual Genome, never trained on.",
        "",
        f"Speed: {speed(coco):,.0f} captions of COCO a second of processor time, on one core.",
        "",
        *_errors(captions),
        "",
    ]
    return "\n".join(lines)


def _errors(captions: Sequence[Caption]) -> list[str]:
    """Return the part of the page on what is wrong in parses of Flickr30k's captions."""
    parses = parse(one.text for one in captions)
    precision, recall = rules_alone(captions)
    return [
        "## Where it errs",
        "",
        f"Captions of Flickr30k ({len(captions):,}), by what the official grammar has in them.",
        "",
        "| with | captions | F1 of tuples | without a difference |",
        "|---|---|---|---|",
        *(
            f"| {n} | {c} | {f:.3f} | {e:.1%} |"
            for n, c, f, e in constructions(captions, parses)
        ),
        "",
        "| | there | missed | too many |",
        "|---|---|---|---|",
        *(f"| {n} | {a} | {b} | {c} |" for n, a, b, c in by_length(captions, parses)),
        "",
        f"The rules alone, on the official grammar of these captions: precision {precision:.4f}, "
        f"recall {recall:.4f}.",
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    command = argparse.ArgumentParser(prog="parsing.evaluate", description=__doc__)
    command.add_argument("--reference", type=Path, required=True)
    command.add_argument("--parsed", type=Path, required=True)
    command.add_argument(
        "--out", type=Path, default=Path(__file__).with_name("EVALUATION.md")
    )
    given = command.parse_args(arguments)
    given.out.write_text(report(given.reference, given.parsed), encoding="utf-8")


if __name__ == "__main__":
    main()
