"""Notes on labels, classes and ids whose spelling is probably a mistake."""

from __future__ import annotations

from collections.abc import Sequence

from semmetrics.data.item_ids import Ids
from semmetrics.data.lists import gather
from semmetrics.errors import Fact
from semmetrics.kinds.note_builders import counted, named
from semmetrics.messages import plural

_MAX_SHOWN_GROUPS = 2  # groups of lookalikes that are shown


def find_odd_ids(ids: Ids) -> list[Fact]:
    """Return notes on odd ids. Items that are identified by position have none."""
    if isinstance(ids, range):
        return []
    return find_odd_texts([str(item_id) for item_id in ids], "id")


def find_odd_texts(texts: Sequence[str], noun: str) -> list[Fact]:
    """Return notes on surrounding white space, invisible characters and lookalikes.

    Parameters
    ----------
    texts : sequence of str
        Distinct.
    noun : str
        The word for such a string in messages: "label".

    Examples
    --------
    >>> print(*find_odd_texts(["cat", "Cat", "dog"], "label"))
    1 group of labels differing only by case or white space: 'cat', 'Cat'
    """
    padded = [text for text in texts if text != text.strip()]
    hidden = [text for text in texts if not text.strip().isprintable()]
    lookalikes = _group_lookalikes(texts)
    examples = []
    for group in lookalikes[:_MAX_SHOWN_GROUPS]:
        examples += group
    notes = named("padded-texts", padded, noun=noun)
    notes += named("hidden-characters", hidden, noun=noun)
    notes += counted("lookalikes", len(lookalikes), examples, noun=plural(noun))
    return notes


def _group_lookalikes(texts: Sequence[str]) -> list[list[str]]:
    """Return the groups of texts that differ only by case or white space."""
    folded = ["".join(text.split()).casefold() for text in texts]
    groups = gather(zip(folded, texts, strict=True))
    return [group for group in groups.values() if len(group) > 1]
