"""The 13a tokens of mteval-v13a.pl and sacreBLEU.

Conventions
-----------
Case is kept, as sacreBLEU keeps it unless told otherwise. Only ASCII punctuation is cut off; a
full stop or comma stays between digits.

References
----------
NIST, mteval-v13a.pl, 2009, the tokenization of Western languages; Post, "A call for clarity in
reporting BLEU scores", 2018 (sacreBLEU's ``13a``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from semmetrics.text.captions import check_captions

__all__ = ["ThirteenATokenizer"]

_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))
_SIGNS = str.maketrans({sign: f" {sign} " for sign in '!"#$%&()*+/:;<=>?@[\\]^_`{|}~'})
# In this order, each over the whole caption.
_BY_DIGITS = (
    (re.compile("([^0-9])([.,])"), r"\1 \2 "),
    (re.compile("([.,])([^0-9])"), r" \1 \2"),
    (re.compile("([0-9])-"), r"\1 - "),
)


class ThirteenATokenizer:
    """Captions to 13a tokens.

    Examples
    --------
    >>> ThirteenATokenizer().tokens(["It's 1,000.5 kg, isn't it?"])
    [["It's", '1,000.5', 'kg', ',', "isn't", 'it', '?']]
    """

    name = "13a"

    def tokens(self, captions: Sequence[str]) -> list[list[str]]:
        """The tokens of each caption.

        Raises
        ------
        InputError
            If a caption is not a string; names its index.
        """
        check_captions(captions)
        return [_tokens(caption) for caption in captions]


def _tokens(caption: str) -> list[str]:
    line = caption.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    if "&" in line:
        for entity, sign in _ENTITIES:
            line = line.replace(entity, sign)
    line = f" {line} ".translate(_SIGNS)
    for pattern, apart in _BY_DIGITS:
        line = pattern.sub(apart, line)
    return line.split()
