"""Small labels of two systems, the second with scores, and captions."""

GT = {"1": ["cat"], "2": ["dog", "bird"], "3": [], "4": ["cat", "dog"]}
A = {"1": ["cat", "cow"], "2": ["dog"], "3": ["cat"], "4": ["dog", "cat", "dog"]}
B = {
    "1": [["cow", 0.3], ["cat", 0.9]],
    "2": [["bird", 0.6]],
    "3": [["cat", 0.1]],
    "4": [["cat", 0.2]],
}

CAPTIONS = {"1": "a cat sleeps on a mat", "2": "two dogs run on grass"}
REFERENCES = {
    "1": ["a cat is sleeping on a mat", "the cat sleeps"],
    "2": ["two dogs are running on the grass", "dogs run", "dogs play on grass"],
}
