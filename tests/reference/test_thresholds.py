"""Thresholds by contrast on Open Images, as docs/measures/thresholds.md has them.

Source: predictions of Microsoft Computer Vision and ground truth of Kubany et al. 2020; 8,074 words
of GoogleNews. The paper chose 0.4 for word2vec, and 0.5 is the threshold of the models "static" and
"same".
"""

import pytest

import semmetrics

EMBEDDINGS = {
    "word2vec": (0.32, 0.4, 0.93),
    "static": (0.49, 0.5, 0.98),
    "same": (0.39, 0.5, 0.93),
}


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_contrast_finds_nearly_what_is_known(reference_dir, name):
    best, known, share = EMBEDDINGS[name]
    images = reference_dir / "openimages"
    words = reference_dir / "word2vec" / "googlenews_subset_8074.bin"
    found = semmetrics.calibrate_threshold(
        images / "microsoft_predictions.csv",
        images / "ground_truth.csv",
        measure="SemF1@5",
        holdout=1,
        normalize="kubany2020",
        missing="skip",
        embedding=words if name == "word2vec" else name,
    )
    assert (found.threshold, found.n) == (best, 833)
    contrast = dict(zip(found.curve["threshold"], found.curve["contrast"], strict=True))
    assert share * found.value < contrast[known] < found.value
