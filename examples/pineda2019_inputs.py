"""Write made-up inputs for the protocol pineda2019: python examples/pineda2019_inputs.py FOLDER.

Each dataset gets a dictionary, a ground truth, the label sets of two models with five seeds, and
one matrix of scores with the probabilities of each set size.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

CLASSES = [f"label {number}" for number in range(12)]
ERRORS = {"ff": 0.08, "lstm": 0.10}  # the share of labels that each model has wrong
N_IMAGES, N_SEEDS, LARGEST_SET = 100, 5, 8


def write_labels(path: Path, members: np.ndarray) -> None:
    """Write a 0/1 matrix of images x classes as lists of labels."""
    names = np.array(CLASSES)
    lists = [names[row].tolist() for row in members]
    path.write_text(json.dumps(lists), encoding="utf-8")


def write_data_set(folder: Path, rng: np.random.Generator) -> None:
    """Write the files of one dataset."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "dictionary.txt").write_text("\n".join(CLASSES) + "\n", encoding="utf-8")
    truth = rng.random((N_IMAGES, len(CLASSES))) < 0.25
    write_labels(folder / "gt.json", truth)
    for model, share in ERRORS.items():
        for seed in range(N_SEEDS):
            wrong = rng.random(truth.shape) < share
            write_labels(folder / f"{model}_seed{seed}.json", truth ^ wrong)
    np.save(folder / "scores.npy", (truth + rng.random(truth.shape)) / 2)
    sizes = rng.random((N_IMAGES, LARGEST_SET))
    np.save(folder / "cardinality.npy", sizes / sizes.sum(axis=1, keepdims=True))


def main() -> None:
    """Write three datasets into a folder."""
    if len(sys.argv) != 2:
        print(__doc__)
        return
    folder = Path(sys.argv[1])
    rng = np.random.default_rng(0)
    for name in ("voc", "coco", "nus-wide"):
        write_data_set(folder / name, rng)
    print(f"three datasets in {folder}")


if __name__ == "__main__":
    main()
