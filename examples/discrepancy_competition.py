"""A maximum discrepancy competition of captioners: select, annotate, rank, and add a third.

Captions and references are those of `captions/`; the references stand in for what annotators write
into the sheet. Exits with 1 where something stated below does not hold.

Run: python examples/discrepancy_competition.py
"""

import math
import sys
import tempfile
from pathlib import Path

import semmetrics

FOLDER = Path(__file__).with_name("captions")
SYSTEMS = {name: FOLDER / f"{name}.json" for name in ("model_a", "model_b", "model_c")}
K = 3


def annotate(sheet):
    """Fill the rows of a sheet as annotators do, each with another reference of the image."""
    references = semmetrics.as_captions(FOLDER / "references.json")
    known = dict(zip(map(str, references.ids), references.to_list(), strict=True))
    return [
        {**row, "caption": known[row["image_id"]][int(row["annotator"]) - 1]}
        for row in sheet
    ]


def select(folder):
    """Select the images of two systems, and save the state."""
    two = {name: SYSTEMS[name] for name in ("model_a", "model_b")}
    selection = semmetrics.select_discrepant(two, K, measure="NGSM(order=2)")
    print(selection, end="\n\n")
    for row in selection.to_records():
        print(f"  {row['image_id']}  {row['value']:.4f}  {row['first_answer']}")
        print(f"               {row['second_answer']}")
    for note in selection.notes:
        print(f"  note: {note}")
    selection.save(Path(folder, "state.json"))
    page = semmetrics.write_annotation_page(selection.sheet(), images="images/{id}.jpg")
    (pair,) = selection.pairs
    return {
        "the images selected are those that are least alike": list(pair.values)
        == sorted(pair.values),
        "one caption of model_b has a word three times in a row": selection.inputs[
            "model_b"
        ]["duplicated"]
        == 1,
        "the page has a field for each row of the sheet": page.count("<textarea")
        == 3 * K,
    }


def add_and_rank(folder):
    """Add the third system: only the new images are annotated; then rank all three."""
    before = semmetrics.DiscrepancySelection.load(Path(folder, "state.json"))
    after = semmetrics.add_systems(before, SYSTEMS)
    rows = annotate(before.sheet()) + annotate(after.sheet(since=before))
    ranking = semmetrics.rank_competition(
        after, rows, measures=["ROUGE-L", "CIDEr-D"], stability=[2]
    )
    print(f"\n{ranking}")
    for one in ranking.pair_records()[:6]:
        print(f"  {one['first']} over {one['second']}: {one['dominance']:.4f}")
    rouge = ranking.rankings[0]
    again = semmetrics.rank_dominance(rouge.dominance)
    return {
        "the pair of the first two is as it was": after.pairs[:1] == before.pairs,
        "each of three pairs has its images": [len(p.images) for p in after.pairs]
        == [K] * 3,
        "the global scores sum to 1": math.isclose(sum(rouge.rank.scores), 1),
        "the rank follows from the dominances alone": again == rouge.rank,
    }


def main() -> int:
    """Print everything and give the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        held = {**select(folder), **add_and_rank(folder)}
    wrong = [statement for statement, holds in held.items() if not holds]
    for statement in wrong:
        print(f"does not hold: {statement}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
