"""
Captions
========

Three captioners on the eight images of ``examples/captions``.
"""

import json
from pathlib import Path

import semmetrics
from semmetrics.plots import ItemsDisplay, ValuesDisplay

folder = Path("../captions")  # beside this script's folder
references = json.loads((folder / "references.json").read_text())
systems = {f"model_{x}": str(folder / f"model_{x}.json") for x in "abc"}
table = semmetrics.score_systems(
    systems, references, measures="BLEU-1 BLEU-4 ROUGE-L CIDEr-D", ci=True
)
table

# %%
# CIDEr-D goes to 10 and has a scale of its own:
values = ValuesDisplay.from_scores(table).plot()

# %%
# Few items have long steps. Which images are hard for whom?
items = ItemsDisplay.from_scores(table, measure="CIDEr-D").plot()
table.worst(1, measure="CIDEr-D")
