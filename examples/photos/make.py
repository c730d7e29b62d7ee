"""Make the data of this folder: invented labels of 300 photos, and three systems that predict them.

The scenes, their labels and the other words for them stand here; which of them a photo shows and a
system finds is drawn from a seed.

    python examples/photos/make.py
"""

import json
import random
from pathlib import Path

SCENES = {
    "beach": "sea sand person child boat sky bird surfboard umbrella rock",
    "street": "car bus truck bicycle motorcycle person building street crowd window",
    "kitchen": "table cup bread fruit glass cake lamp window cat food",
    "living room": "sofa table lamp book window computer phone dog cat child",
    "farm": "cow sheep horse grass field sky dog truck tree house",
    "mountain lake": "mountain lake snow rock tree sky boat person bird skis",
    "park": "grass tree flower dog child ball bicycle bird person bridge",
    "station": "train bridge crowd person phone bus building book child glass",
    "old town": "castle church street river bridge building crowd market sky flower",
}
OTHER_WORDS = {
    "bicycle": "bike",
    "boat": "ship",
    "book": "novel",
    "bread": "toast",
    "car": "automobile",
    "cat": "kitten",
    "child": "kid",
    "computer": "laptop",
    "cow": "cattle",
    "crowd": "people",
    "cup": "mug",
    "dog": "puppy",
    "flower": "blossom",
    "food": "meal",
    "grass": "lawn",
    "horse": "pony",
    "lake": "pond",
    "lamp": "light",
    "motorcycle": "motorbike",
    "mountain": "hill",
    "phone": "smartphone",
    "rock": "stone",
    "sea": "ocean",
    "sheep": "lamb",
    "skis": "skiing",
    "sky": "clouds",
    "sofa": "couch",
    "street": "road",
    "train": "railway",
    "truck": "lorry",
}
SYSTEMS = {  # how often a label is found, a wrong one added, and another word used for it
    "baseline": (0.60, 0.30, 0.00),
    "finetuned": (0.66, 0.24, 0.00),
    "open-words": (0.72, 0.22, 0.75),
}


def main() -> None:
    """Write the ground truth and the predictions of each system, one photo a line."""
    draw, folder = random.Random(7), Path(__file__).parent
    pools = {scene: labels.split() for scene, labels in SCENES.items()}
    truth, shown = {}, {}
    for number in range(300):
        shown[f"photo-{number:03}"] = pool = pools[draw.choice([*pools])]
        truth[f"photo-{number:03}"] = draw.sample(pool, draw.randint(3, 6))
    write(folder / "ground_truth.json", truth)
    (folder / "predictions").mkdir(exist_ok=True)
    for system, (found, wrong, reworded) in SYSTEMS.items():
        predicted = {}
        for photo, labels in truth.items():
            mine = [label for label in labels if draw.random() < found]
            mine += [
                label
                for label in shown[photo]
                if label not in labels and draw.random() < wrong
            ]
            draw.shuffle(mine)
            predicted[photo] = [
                OTHER_WORDS.get(label, label) if draw.random() < reworded else label
                for label in mine
            ]
        write(folder / "predictions" / f"{system}.json", predicted)


def write(path: Path, labels: dict[str, list[str]]) -> None:
    """Write labels by photo."""
    lines = (
        f"{json.dumps(photo)}: {json.dumps(some)}" for photo, some in labels.items()
    )
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
