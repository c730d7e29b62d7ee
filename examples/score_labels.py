"""Fifteen systems on one image: exact recall and precision beside those of the published table.

The labels are those of Kubany et al. 2020, table 2. Exits with 1 if a value is not the printed one.

Run: python examples/score_labels.py
"""

import sys
from pathlib import Path

import semmetrics

FOLDER = Path(__file__).with_name("kubany2020_table2")

# System: recall and precision as table 2 prints them.
PRINTED = {
    "clarifai": ("0.04", "0.2"),
    "google-cloud-vision": ("0.04", "0.2"),
    "ibm-watson": ("0.04", "0.25"),
    "imagga": ("0.08", "0.4"),
    "microsoft-computer-vision": ("0.12", "0.6"),
    "wolfram": ("0", "0"),
    "deepdetect": ("0", "0"),
    "inceptionresnet-v2": ("0.04", "0.2"),
    "inception-v3": ("0", "0"),
    "mobilenet-v2": ("0.04", "0.2"),
    "resnet50": ("0.04", "0.2"),
    "resnet50-coco": ("0.04", "0.2"),
    "vgg19": ("0.04", "0.2"),
    "yolo-v3": ("0", "0"),
    "yolo-v3-coco": ("0.08", "0.4"),
}


def main() -> int:
    """Print the table and give the exit code."""
    different = []
    print(f"{'system':26} {'recall':>6} {'paper':>6} {'precision':>10} {'paper':>6}")
    for system, paper in PRINTED.items():
        predictions = FOLDER / "predictions" / f"{system}.json"
        table = semmetrics.score(
            predictions, FOLDER / "ground_truth.json", measures=["Recall", "Precision"]
        )
        recall, precision = (f"{score.value:.12g}" for score in table)
        print(f"{system:26} {recall:>6} {paper[0]:>6} {precision:>10} {paper[1]:>6}")
        if (recall, precision) != paper:
            different.append(system)
    if different:
        print(f"not as printed: {', '.join(different)}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
