"""Files of images in the COCO format that share a name."""

from refusals import refused

import semmetrics


def test_a_file_name_that_two_images_share_is_no_id():
    coco = {
        "images": [{"id": 1, "file_name": "a"}, {"id": 2, "file_name": "a"}],
        "categories": [{"id": 1, "name": "cat"}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1}],
    }

    with refused("no-items"):
        semmetrics.score({"a": ["cat"]}, coco, measures="F1", missing="skip")
