"""The publications that definitions and protocols cite, read from ``bibliography.bib``.

Conventions
-----------
The file is BibTeX in one layout, which ``semmetrics cite`` prints as it stands: an entry's first
line is ``@kind{key,``, each field has a line ``name = {value}``, and ``}`` ends the entry.

Examples
--------
>>> print(entry("sorower2010").bibtex)
@techreport{sorower2010,
  author = {Sorower, Mohammad S.},
  title = {A Literature Survey on Algorithms for Multi-label Learning},
  institution = {Oregon State University, Corvallis},
  year = {2010}
}
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources

from semmetrics.errors import InputError

SAME = {
    "tsoumakas2009": "tsoumakas2010",  # one chapter, cited under the year of either printing
    "coco-caption": "chen2015",  # what protocols are called
    "coco-5k": "faghri2018",
    "coco-1k": "faghri2018",
    "f30k": "faghri2018",
    "eccv": "chun2022",
}
_FIELD = re.compile(r"^  (\w+) = \{(.*)\},?$", re.M)


@dataclass(frozen=True)
class Entry:
    """A publication.

    Attributes
    ----------
    key : str
        "godbole2004".
    bibtex : str
        The entry as the file has it.
    """

    key: str
    bibtex: str

    @property
    def fields(self) -> dict[str, str]:
        """The fields by name, in their order."""
        return dict(_FIELD.findall(self.bibtex))


@cache
def bibliography() -> dict[str, Entry]:
    """Read every entry, by key."""
    text = resources.files("semmetrics.metrics").joinpath("bibliography.bib").read_text("utf-8")
    entries = [part.strip() for part in re.split(r"^(?=@)", text, flags=re.M) if part.strip()]
    keys = [part.partition("{")[2].partition(",")[0] for part in entries]
    return {key: Entry(key, part) for key, part in zip(keys, entries, strict=True)}


def entry(key: str) -> Entry:
    """Find a publication by its key.

    Raises
    ------
    InputError
        If there is none.
    """
    key = SAME.get(key, key)
    if key not in bibliography():
        raise InputError("unknown-name", what="publication", value=key, remedy="")
    return bibliography()[key]
