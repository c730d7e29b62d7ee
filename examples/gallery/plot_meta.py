"""
Which measure agrees with people?
=================================

People rated captions; which measure orders them as they did? The ratings are those of
``examples/agreement``.
"""

from pathlib import Path

import semmetrics
from semmetrics.plots import AgreementDisplay

folder = Path("../agreement")  # beside this script's folder
found = semmetrics.meta(
    str(folder / "ratings.json"),
    protocol="flickr8k-expert",
    measures="CIDEr-D ROUGE-L BLEU-1 BLEU-4 BagSim",
)
found

# %%
# Kendall's τ-c with 95% intervals over images. There are 36 ratings only, and the intervals say
# so.
agreement = AgreementDisplay.from_agreement(found).plot()
