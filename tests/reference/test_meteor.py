"""METEOR of the COCO caption code's example, with the program itself."""

import laws
import pytest
from oracles.captions_ngram import Blanks

from semmetrics.data.tasks import caption_task
from semmetrics.metrics.meteor import METEOR, METEOR_PROGRAM
from semmetrics.scoring.evaluate import evaluate


def test_fakecap(fakecap):
    missing = METEOR_PROGRAM.missing()
    if missing:
        pytest.skip(missing)
    gts, res = fakecap
    task = caption_task([res[name] for name in gts], list(gts.values()), list(gts), Blanks())
    (found,) = laws.scores(evaluate(task, [METEOR()]), [METEOR()])
    assert found.n == 1000
    assert found.value == pytest.approx(0.19525467177780284, abs=1e-12)
    assert found.items.mean() != pytest.approx(found.value, abs=1e-3)
