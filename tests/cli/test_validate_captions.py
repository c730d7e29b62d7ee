"""``semmetrics validate`` of captions."""

import json


def test_captions_of_coco(ok, reference_dir):
    path = reference_dir / "coco" / "coco_karpathy_test5k.tsv"
    (found,) = json.loads(ok("validate", path, "--format", "json"))
    assert (found["items"], found["captions"], found["distinct"]) == (
        5000,
        25_000,
        24_824,
    )
    assert found["cardinality"]["histogram"] == [0, 0, 0, 0, 0, 5000]
    assert sum(entry["count"] - 1 for entry in found["repeated"]) == 25_000 - 24_824
