"""
Label sets with intervals
=========================

Three systems name what is in the 300 photos of ``examples/photos``. One of them uses words of its
own.
"""

from pathlib import Path

import semmetrics
from semmetrics.plots import ItemsDisplay, LabelsDisplay, ValuesDisplay

folder = Path("../photos")  # beside this script's folder
systems = {
    path.stem: str(path) for path in sorted((folder / "predictions").glob("*.json"))
}
table = semmetrics.score_systems(
    systems, str(folder / "ground_truth.json"), measures="F1 MacroF1 SemF1", ci=True
)
table

# %%
# The values with their 95% intervals. By exact labels ``open-words`` is far behind, by meaning it
# is close:
values = ValuesDisplay.from_scores(table).plot()

# %%
# Each label by itself, beside how often it occurs:
labels = LabelsDisplay.from_scores(table, most=15).plot()

# %%
# The share of photos up to each value: the further right a curve lies, the better.
items = ItemsDisplay.from_scores(table, measure="SemF1").plot()
