"""
Maximum discrepancy competition
===============================

Which images tell three captioners apart? Those on which their captions differ most are selected,
these alone are annotated, and the systems are ranked on them.
"""

from pathlib import Path

import semmetrics
from semmetrics.plots import DominanceDisplay

folder = Path("../captions")  # beside this script's folder
systems = {
    name: str(folder / f"{name}.json") for name in ("model_a", "model_b", "model_c")
}
selection = semmetrics.select_discrepant(
    systems, 3, measure="NGSM(order=2)", task="captions"
)
selection

# %%
# Here the references are there already:
ranking = semmetrics.rank_competition(
    selection, str(folder / "references.json"), measures="ROUGE-L CIDEr-D"
)
ranking

# %%
# The score of each system over that of each other, on the images of the pair:
dominance = DominanceDisplay.from_competition(ranking).plot()
