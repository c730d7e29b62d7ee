"""Small human judgements of label sets and of captions, for tests of meta-evaluation."""

from __future__ import annotations

GTS = {
    "a": ["cat", "dog"],
    "b": ["dog"],
    "c": ["cow"],
    "d": ["cat", "cow"],
    "e": ["bus"],
}
PREDS = {
    "a": ["cat"],
    "b": ["dog"],
    "c": ["cow", "dog", "bus"],
    "d": ["bus"],
    "e": ["cat", "bus"],
}
F1 = {"a": 2 / 3, "b": 1.0, "c": 0.5, "d": 0.0, "e": 2 / 3}
RATINGS = [
    {"id": "a", "rating": 3, "rater": "x"},
    {"id": "a", "rating": 4, "rater": "y"},
    {"id": "b", "rating": 4, "rater": "x"},
    {"id": "b", "rating": 4, "rater": "y"},
    {"id": "c", "rating": 2, "rater": "x"},
    {"id": "c", "rating": 1, "rater": "y"},
    {"id": "d", "rating": 1, "rater": "x"},
    {"id": "e", "rating": 1, "rater": "y"},
]

DOGS = ["a dog runs fast", "the dog runs"]
CATS = ["two cats sleep here", "cats sleep"]
REFERENCES = {"dogs": DOGS, "cats": CATS}
JUDGED_CAPTIONS = [
    ("dogs", "the dog is fast", 4),
    ("dogs", "the dog is fast", 3),
    ("dogs", "a cat", 1),
    ("dogs", "the dog runs", 4),
    ("cats", "cats sleep here", 3),
    ("cats", "two cars", 2),
]


def images():
    """Return the captions and ratings of each image, in the format of Flickr8k."""
    content = {}
    for image, references in REFERENCES.items():
        content[image] = {"ground_truth": references, "human_judgement": []}
    for image, caption, rating in JUDGED_CAPTIONS:
        judgement = {"caption": caption, "rating": rating}
        content[image]["human_judgement"].append(judgement)
    return content


def agreements(table):
    """Return the value of each measure, group and statistic."""
    return {(row.heading, row.group, row.statistic): row.value for row in table}
