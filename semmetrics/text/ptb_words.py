"""The words that the PTB rules know by name.

Found by giving the Java tokenizer every string of up to five letters and some 350,000 English
words: alone, before a full stop, after an initial, and with an apostrophe in every place.
"""

from __future__ import annotations

__all__ = [
    "ABBREVIATION",
    "APOSTROPHE_WORD",
    "BEFORE_NUMBER",
    "ENTITY",
    "EXTENSION",
    "SENTENCE_END",
    "SPLIT",
    "STARTER",
    "TYPEWRITER_WORD",
]


def _any(words: str) -> str:
    return "|".join(words.split())


def _cases(words: str, *forms: str) -> str:
    return "|".join(getattr(word, form)() for word in words.split() for form in forms)


# Abbreviations that often end a sentence; a full stop after one is a token that is removed anyway,
# but one letter or sign that touches the abbreviation is cut from it.
SENTENCE_END = (
    "(?i:"
    + _any(
        "al ala apr ariz assn aug bancorp bhd bldg blvd bros calif co colo conn corp cos ct dak "
        "dec esq est etc ext feb fla fri ga inc ind intl jan jr jul jun kan kans ky ltd mar md "
        "mich minn mo mon mont neb nev nov oct okla penn plc rd rt sep sept seq sq sr sys tel tenn "
        "thu thurs tue tues univ va vt wed wis wisc wyo ph\\.d"
    )
    + ")|"
    + _cases("az la pa ark del ill ore tex mass miss wash", "title", "upper")
    + "|"
    + _cases("pte pty ppte ppty ptes ptys", "title", "lower")
)

# Abbreviations that seldom do: titles, ranks, saints, streets.
ABBREVIATION = (
    "(?i:"
    + _any(
        "cf dr ft lt mr ms mt ph st vs wm adj adm adv ave cie col cpl det drs ens gen gov hon jos "
        "maj mme mrs pfc pvt rep rev sen sfc sgt spc ste alex asst atty brig capt cmdr dept elec "
        "govs insp invt mlle msgr natl pres prof reps sens supt assoc attys comdr lieut messrs "
        "profs treas"
    )
    + ")|"
    + _cases("mfg mtg", "title", "lower")
)

# Abbreviations only where a number follows.
BEFORE_NUMBER = f"(?i:{_any('ca no op pp art fig nos figs prop')})"

# Words that begin a sentence so often that the full stop before them ends the last one.
STARTER = _cases(
    "a an as at he if in it so we but her now one our she the yet you here last many more once "
    "some such that then they this what when about according additionally after earlier however "
    "other since their there these while",
    "title",
    "upper",
)

# Words with an apostrophe that no other rule keeps whole; typographic ones count in the first list.
APOSTROPHE_WORD = ("cap@n", "c@est", "dunkin@", "somethin@")
TYPEWRITER_WORD = "c'mon|e'er|ev'ry|li'l|nat'l|nor'easter|s'mores"

EXTENSION = _any(
    "bat bmp cgi class cpp c dll docx doc exe gif gz html htm h java jar jpeg jpg mov mp3 pdf php "
    "pl png ppt ps py sql tar txt wav xml x zip"
)

ENTITY = _any("amp apos cdq gt ht lr lt md mdash nbsp ndash odq qc ql qr quot tl ur")

# The only words of plain letters that are more than one token.
SPLIT = _any("cannot gimme gonna gotta lemme wanna")
