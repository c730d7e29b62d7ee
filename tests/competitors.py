"""Random captions of several systems for the same images, as for a competition."""

import random

WORDS = ["a", "dog", "cat", "runs", "sits", "on", "the", "red", "grass", "bus"]


def random_captions(n=40, m=4, seed=0):
    """Return captions of m systems for n images, by system and image."""
    rng = random.Random(seed)
    rows = []
    for _ in range(n):
        row = [" ".join(rng.choices(WORDS, k=rng.randint(2, 6))) for _ in range(m)]
        rows.append(row)
    return by_system(rows)


def by_system(rows):
    """Return captions by system and image, given a row of captions per image.

    The ids of the images are not in the order of the rows.
    """
    systems = {f"s{column}": {} for column in range(len(rows[0]))}
    for n, row in enumerate(rows):
        image = f"{(7 * n) % len(rows)}{n}"
        for system, caption in zip(systems, row, strict=True):
            systems[system][image] = caption
    return systems
