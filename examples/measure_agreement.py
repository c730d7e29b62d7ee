"""Ask which caption measures agree best with people, on ratings and on preferences."""

from pathlib import Path

import semmetrics

DATA = Path(__file__).parent / "agreement"
MEASURES = "CIDEr-D ROUGE-L BLEU-4"


def main() -> None:
    """Print agreement with ratings, and with preferences."""
    # Each rating counts for itself, as the literature has it of Flickr8k-Expert.
    rated = semmetrics.meta(
        DATA / "ratings.json", measures=MEASURES, statistics="kendall-c,spearman"
    )
    print(rated)
    best = max(
        (one for one in rated if one.statistic == "kendall-c"),
        key=lambda one: one.value,
    )
    print(f"\nThe best of tau-c is {best.heading}.\n")

    # Of two captions people prefer one: how often does a measure, too?
    print(semmetrics.meta(DATA / "preferences.jsonl", measures=MEASURES))

    # One's own ratings need ids alone; predictions and ground truth are given as for a score.
    ratings = [
        {"id": "a", "rating": 5},
        {"id": "b", "rating": 1},
        {"id": "c", "rating": 4},
    ]
    preds = {"a": ["cat"], "b": ["dog", "bus"], "c": ["cow", "grass"]}
    truth = {"a": ["cat"], "b": ["house"], "c": ["cow"]}
    own = semmetrics.meta(ratings, preds, truth, measures="F1", statistics="kendall-b")
    print(f"\nF1 of labels: tau-b = {own['F1'].value:.3f} of {own['F1'].n} ratings")


if __name__ == "__main__":
    main()
