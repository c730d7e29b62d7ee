"""Thresholds by contrast on Open Images, as in docs/measures/thresholds.md.

Source: predictions of Microsoft Computer Vision and ground truth of Kubany et al. 2020, and 8,074
words of GoogleNews. The paper chose 0.4 for word2vec. The models "static" and "same" have the
threshold 0.5.
"""

import pytest

import semmetrics


@pytest.mark.parametrize(
    ("embedding", "threshold", "chosen", "share"),
    [
        ("word2vec", 0.32, 0.4, 0.93),
        ("static", 0.49, 0.5, 0.98),
        ("same", 0.39, 0.5, 0.93),
    ],
)
def test_the_contrast_of_the_chosen_threshold_is_nearly_the_best(
    reference_dir, embedding, threshold, chosen, share
):
    images = reference_dir / "openimages"
    if embedding == "word2vec":
        embedding = reference_dir / "word2vec" / "googlenews_subset_8074.bin"

    result = semmetrics.calibrate_threshold(
        images / "microsoft_predictions.csv",
        images / "ground_truth.csv",
        measure="SemF1@5",
        holdout=1,
        normalize="kubany2020",
        missing="skip",
        embedding=embedding,
    )

    assert result.threshold == threshold
    assert result.n == 833
    curve = zip(result.curve["threshold"], result.curve["contrast"], strict=True)
    assert share * result.value < dict(curve)[chosen] < result.value
