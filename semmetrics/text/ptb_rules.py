r"""The rules of the PTB tokenizer: at each place, the rule with the longest match makes the token.

Conventions
-----------
Of matches of the same length the first rule's is taken. What must follow a token counts in the
length of the match but is not part of the token. A caption ends with ``"\n"``, which no token has.
Case is ignored where a rule says so, in ASCII only. A repetition is limited (to 64 parts of an
address, say) where a caption could otherwise cost quadratic time.

The kinds of characters were found by giving the Java tokenizer each character of the Basic
Multilingual Plane alone, inside and beside letters, digits and signs. They are near the general
categories of Unicode 6, but not equal to them, and they do not change with the Unicode version of
the Python that runs. A character of no kind, every one beyond that plane (emoji) among them, is no
token and ends the one before it; only addresses (URLs, e-mail) may hold it.

The words were found by giving it every string of up to five letters and some 350,000 English words:
alone, before a full stop, after an initial, and with an apostrophe in every place.

The table of tests/unit/test_tokenize_ptb.py has, under each rule's name, a caption that needs it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

__all__ = [
    "ABBREVIATION",
    "BEFORE_NUMBER",
    "RULES",
    "SENTENCE_END",
    "SPLIT",
    "Rule",
]

# Kinds of characters: what stands between the brackets of a class of a regular expression.

SOFT_HYPHEN = "\xad"
SPACE = " \t\xa0\u2000-\u200a\u3000"

# Decimal digits.
_DIGITS = """
    30-39 660-669 6f0-6f9 7c0-7c9 966-96f 9e6-9ef a66-a6f ae6-aef b66-b6f be6-bef c66-c6f
    ce6-cef d66-d6f e50-e59 ed0-ed9 f20-f29 1040-1049 1090-1099 17e0-17e9 1810-1819 1946-194f
    19d0-19d9 1a80-1a89 1a90-1a99 1b50-1b59 1bb0-1bb9 1c40-1c49 1c50-1c59 a620-a629 a8d0-a8d9
    a900-a909 a9d0-a9d9 aa50-aa59 abf0-abf9 ff10-ff19
"""

# Combining marks and modifiers: letters of plain words only.
_MARKS = """
    2c2-2c5 2d2-2df 2e5-2eb 2ed 2ef-36f 375 378-379 384-385 3f6 483-487 55a-55f 591-5bd 5bf
    5c1-5c2 5c4-5c5 5c7 615-61a 64b-65e 670 6d6-6e4 6e7-6ed 6fd-6fe 70f 711 730-74c 7a6-7b0
    7eb-7f3 900-903 93c 93e-94e 951-955 962-963 981-983 9bc 9be-9c4 9c7-9c8 9cb-9cd 9d7 9e2-9e3
    a01-a03 a3c a3e-a4f a81-a83 abc abe-acf b82 bbe-bc2 bc6-bc8 bca-bcd c01-c03 c3e-c56 d3e-d44
    d46-d48 e31 e34-e3a e47-e4e eb1 eb4-ebc ec8-ecd
"""

# A token of its own, unless a rule takes it together with others.
_SYMBOLS = """
    21-2f 3a-40 5b-60 7b-7e 80 85 91-94 96-97 a1-a9 ab-ac ae-b4 b6-b9 bb-bf d7 f7 37e 387 589
    5be 5c0 5c3 5c6 5f3-5f4 600-603 606-60c 614 61b 61e-61f 66a 66d 6d4 700-70d 7f6-7f8 964-965
    e3f e4f 1fbd 2013-2023 2026 2030-203b 203e-2042 2044 2070 2074-207e 2080-208e 20a0 20a4 20ac
    2100-2101 2103-2106 2108-2109 2114 2116-2118 211e-2123 2125 2127 2129 212e 213a-213b
    2140-2144 214a-214d 214f 2153-215e 2190-2bff 3001-3002 3012 30fb ff01-ff0f ff1a-ff20
    ff3b-ff40 ff5b-ff65 ffe0-ffe1 ffe5-ffe6
"""

# Letters, which words are made of.
_LETTERS = """
    41-5a 61-7a aa b5 ba c0-d6 d8-f6 f8-2c1 2c6-2d1 2e0-2e4 2ec 2ee 370-374 376-377 37a-37d 386
    388-38a 38c 38e-3a1 3a3-3f5 3f7-481 48a-527 531-556 559 561-587 5d0-5ea 5f0-5f2 620-64a
    66e-66f 671-6d3 6d5 6e5-6e6 6ee-6ef 6fa-6fc 6ff 710 712-72f 74d-7a5 7b1 7ca-7ea 7f4-7f5 7fa
    800-815 81a 824 828 840-858 8a0 8a2-8ac 904-939 93d 950 958-961 971-977 979-97f 985-98c
    98f-990 993-9a8 9aa-9b0 9b2 9b6-9b9 9bd 9ce 9dc-9dd 9df-9e1 9f0-9f1 a05-a0a a0f-a10 a13-a28
    a2a-a30 a32-a33 a35-a36 a38-a39 a59-a5c a5e a72-a74 a85-a8d a8f-a91 a93-aa8 aaa-ab0 ab2-ab3
    ab5-ab9 abd ad0 ae0-ae1 b05-b0c b0f-b10 b13-b28 b2a-b30 b32-b33 b35-b39 b3d b5c-b5d b5f-b61
    b71 b83 b85-b8a b8e-b90 b92-b95 b99-b9a b9c b9e-b9f ba3-ba4 ba8-baa bae-bb9 bd0 c05-c0c
    c0e-c10 c12-c28 c2a-c33 c35-c39 c3d c58-c59 c60-c61 c85-c8c c8e-c90 c92-ca8 caa-cb3 cb5-cb9
    cbd cde ce0-ce1 cf1-cf2 d05-d0c d0e-d10 d12-d3a d3d d4e d60-d61 d7a-d7f d85-d96 d9a-db1
    db3-dbb dbd dc0-dc6 e01-e30 e32-e33 e40-e46 e81-e82 e84 e87-e88 e8a e8d e94-e97 e99-e9f
    ea1-ea3 ea5 ea7 eaa-eab ead-eb0 eb2-eb3 ebd ec0-ec4 ec6 edc-edf f00 f40-f47 f49-f6c f88-f8c
    1000-102a 103f 1050-1055 105a-105d 1061 1065-1066 106e-1070 1075-1081 108e 10a0-10c5 10c7
    10cd 10d0-10fa 10fc-1248 124a-124d 1250-1256 1258 125a-125d 1260-1288 128a-128d 1290-12b0
    12b2-12b5 12b8-12be 12c0 12c2-12c5 12c8-12d6 12d8-1310 1312-1315 1318-135a 1380-138f
    13a0-13f4 1401-166c 166f-167f 1681-169a 16a0-16ea 1700-170c 170e-1711 1720-1731 1740-1751
    1760-176c 176e-1770 1780-17b3 17d7 17dc 1820-1877 1880-18a8 18aa 18b0-18f5 1900-191c
    1950-196d 1970-1974 1980-19ab 19c1-19c7 1a00-1a16 1a20-1a54 1aa7 1b05-1b33 1b45-1b4b
    1b83-1ba0 1bae-1baf 1bba-1be5 1c00-1c23 1c4d-1c4f 1c5a-1c7d 1ce9-1cec 1cee-1cf1 1cf5-1cf6
    1d00-1dbf 1e00-1f15 1f18-1f1d 1f20-1f45 1f48-1f4d 1f50-1f57 1f59 1f5b 1f5d 1f5f-1f7d
    1f80-1fb4 1fb6-1fbc 1fbe 1fc2-1fc4 1fc6-1fcc 1fd0-1fd3 1fd6-1fdb 1fe0-1fec 1ff2-1ff4
    1ff6-1ffc 2071 207f 2090-209c 2102 2107 210a-2113 2115 2119-211d 2124 2126 2128 212a-212d
    212f-2139 213c-213f 2145-2149 214e 2183-2184 2c00-2c2e 2c30-2c5e 2c60-2ce4 2ceb-2cee
    2cf2-2cf3 2d00-2d25 2d27 2d2d 2d30-2d67 2d6f 2d80-2d96 2da0-2da6 2da8-2dae 2db0-2db6
    2db8-2dbe 2dc0-2dc6 2dc8-2dce 2dd0-2dd6 2dd8-2dde 2e2f 3005-3006 3031-3035 303b-303c
    3041-3096 309d-309f 30a1-30fa 30fc-30ff 3105-312d 3131-318e 31a0-31ba 31f0-31ff 3400-4db5
    4e00-9fcc a000-a48c a4d0-a4fd a500-a60c a610-a61f a62a-a62b a640-a66e a67f-a697 a6a0-a6e5
    a717-a71f a722-a788 a78b-a78e a790-a793 a7a0-a7aa a7f8-a801 a803-a805 a807-a80a a80c-a822
    a840-a873 a882-a8b3 a8f2-a8f7 a8fb a90a-a925 a930-a946 a960-a97c a984-a9b2 a9cf aa00-aa28
    aa40-aa42 aa44-aa4b aa60-aa76 aa7a aa80-aaaf aab1 aab5-aab6 aab9-aabd aac0 aac2 aadb-aadd
    aae0-aaea aaf2-aaf4 ab01-ab06 ab09-ab0e ab11-ab16 ab20-ab26 ab28-ab2e abc0-abe2 ac00-d7a3
    d7b0-d7c6 d7cb-d7fb f900-fa6d fa70-fad9 fb00-fb06 fb13-fb17 fb1d fb1f-fb28 fb2a-fb36
    fb38-fb3c fb3e fb40-fb41 fb43-fb44 fb46-fbb1 fbd3-fd3d fd50-fd8f fd92-fdc7 fdf0-fdfb
    fe70-fe74 fe76-fefc ff21-ff3a ff41-ff5a ff66-ffbe ffc2-ffc7 ffca-ffcf ffd2-ffd7 ffda-ffdc
"""


def _class_body(ranges: str) -> str:
    """Write ranges as a regular expression does, without its brackets."""
    return "".join(
        "-".join(f"\\u{int(end, 16):04x}" for end in item.split("-")) for item in ranges.split()
    )


LETTER = _class_body(_LETTERS)
MARK = _class_body(_MARKS)
DIGIT = _class_body(_DIGITS)
SYMBOL = _class_body(_SYMBOLS)

# Words that the rules know by name.


def _one_of(words: str) -> str:
    return "|".join(words.split())


def _cases(words: str, *forms: str) -> str:
    return "|".join(getattr(word, form)() for word in words.split() for form in forms)


# Abbreviations that often end a sentence; a full stop after one is a token that is removed anyway,
# but one letter or sign that touches the abbreviation is cut from it.
SENTENCE_END = (
    "(?i:"
    + _one_of(
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
    + _one_of(
        "cf dr ft lt mr ms mt ph st vs wm adj adm adv ave cie col cpl det drs ens gen gov hon jos "
        "maj mme mrs pfc pvt rep rev sen sfc sgt spc ste alex asst atty brig capt cmdr dept elec "
        "govs insp invt mlle msgr natl pres prof reps sens supt assoc attys comdr lieut messrs "
        "profs treas"
    )
    + ")|"
    + _cases("mfg mtg", "title", "lower")
)

# Abbreviations only where a number follows.
BEFORE_NUMBER = f"(?i:{_one_of('ca no op pp art fig nos figs prop')})"

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

EXTENSION = _one_of(
    "bat bmp cgi class cpp c dll docx doc exe gif gz html htm h java jar jpeg jpg mov mp3 pdf php "
    "pl png ppt ps py sql tar txt wav xml x zip"
)

ENTITY = _one_of("amp apos cdq gt ht lr lt md mdash nbsp ndash odq qc ql qr quot tl ur")

# The only words of plain letters that are more than one token.
SPLIT = _one_of("cannot gimme gonna gotta lemme wanna")

# Parts of rules.

S = SOFT_HYPHEN
WORD_PART = LETTER + MARK + DIGIT + S
SOLID = LETTER + DIGIT
PART = SOLID + S
ASCII = "A-Za-z0-9"
START = LETTER + MARK + S
NOT_CONTROLLED = ' \t\n"<>|'  # what no address holds

AFTER = f"[{SPACE}\x85\n]"
APOSTROPHE = "(?:['’\x92]|&apos;)"
CURLED = "(?:[’\x92]|&apos;)"
ANY_QUOTE = "(?:['’\x92‘\x91‛`]|&apos;)"
QUOTES = "`‘’“”‛‟‹›«»„‚\x91\x92\x93\x94"
DASHES = "–—―\x96\x97"
HYPHENS = "֊‐‑"
EYE = "x=~<>'^"
FACE = "-" + EYE

ACCENTED = "&[aeiouAEIOU](?:acute|grave|[uU][mM][lL]);"  # a letter, in SGML's way
WORD = f"(?:[{START}]|{ACCENTED})(?:[{WORD_PART}]|{ACCENTED})*"
DOTTED = f"{WORD}(?:[.!?]{WORD})*"
D = f"[{DIGIT}]"
RUN = f"{D}(?:{S}?{D})*"
PIECE = f"(?:(?i:[dlo]){ANY_QUOTE}[{SOLID}])?[{SOLID}]+"
HYPHENED = f"{PIECE}(?:[-_{HYPHENS}]{PIECE})+"
TAIL = f"(?:[.,][{ASCII}{S}]*){{0,64}}-[{ASCII}{S}]+(?:-[{ASCII}{S}]+)*"
MIXED = f"[{ASCII}][{ASCII}{S}]*{TAIL}"
ATTRIBUTE = r"[A-Za-z][A-Za-z0-9_:.\-]*"
VALUE = "\"[^\"\n]*\"|'[^'\n]*'"
TAG = (
    rf"(?:<{ATTRIBUTE}(?: +{ATTRIBUTE}(?: *= *(?:{VALUE}))?)* */? *>|</{ATTRIBUTE} *>"
    r"|<[!?][A-Za-z\-][^>\n]{0,1000}>)"
)
SLASHED = r"[A-Za-z0-9]+(?:-[A-Za-z]+){0,2}"
LAST = r"""[^ \t\n"<>|(){}.!?,\-]"""  # what a path may end with
PATH = f"/[^{NOT_CONTROLLED}()]+{LAST}"
TIGHT = rf"(?:[.,][{ASCII}]*){{0,64}}-"


class Rule(NamedTuple):
    """A pattern of tokens: the characters they start with, and what must follow them."""

    name: str
    starts: str
    token: str
    follow: str = ""
    change: Callable[[str], str] | None = None

    def compiled(self) -> re.Pattern[str]:
        """Return the pattern: group 1 is the token, and what follows it is outside of the group."""
        return re.compile(f"({self.token})(?:{self.follow})", re.ASCII)


def _drop_hyphens(token: str) -> str:
    return token.replace(S, "")


_STRAIGHT = str.maketrans({"’": "'", "\x92": "'", "‘": "`", "\x91": "`", "‛": "`"})


def _straighten(token: str) -> str:
    """Write typographic apostrophes as a typewriter does."""
    return token.replace("&apos;", "'").translate(_STRAIGHT)


_SIGNS = str.maketrans(
    dict.fromkeys("‘\x91‛‹", "`")
    | dict.fromkeys("’\x92›", "'")
    | dict.fromkeys("“\x93«", "``")
    | dict.fromkeys('"”\x94»', "''")
    | dict.fromkeys(DASHES, "--")
    | dict.fromkeys("…\x85", "...")
    | dict.fromkeys("€\x80¤₠", "$")
    | {"£": "#", "¢": "cents", "½": "1/2", "¼": "1/4", "¾": "3/4", "⅓": "1/3", "⅔": "2/3"}
    | {"(": "-lrb-", ")": "-rrb-", "[": "-lsb-", "]": "-rsb-", "{": "-lcb-", "}": "-rcb-"}
    | dict.fromkeys(HYPHENS, "")
    | {S: "-"}
)


def _replace_sign(token: str) -> str:
    return token.translate(_SIGNS)


_ROUND = str.maketrans({"(": "-lrb-", ")": "-rrb-"})


def _name_brackets(token: str) -> str:
    return token.translate(_ROUND)


def _shorten_dashes(token: str) -> str:
    return "--" if len(token) < 5 else token


_ENTITIES = {"&quot;": "''", "&apos;": "'", "&mdash;": "--", "&ndash;": "--"}
_IN_ANY_CASE = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&nbsp;": "", "&md;": "--"}


def _replace_entity(token: str) -> str:
    return _IN_ANY_CASE.get(token.lower(), _ENTITIES.get(token, token))


def _replace_ampersands(token: str) -> str:
    return re.sub("&amp;", "&", token, flags=re.IGNORECASE)


def _drop(token: str) -> str:
    return ""


RULES = (
    # Markup and addresses
    Rule("blanks", SPACE, f"[{SPACE}]+", change=_drop),
    Rule("tag", "<", TAG),
    Rule(
        "e-mail",
        f"<&{ASCII}",
        rf"(?:<|&lt;)?[{ASCII}][^{NOT_CONTROLLED}(){{}}\xa0]{{0,255}}@"
        rf"(?:[^{NOT_CONTROLLED}(){{}}.\xa0]+\.)*[^{NOT_CONTROLLED}(){{}}.\xa0]+>?",
    ),
    Rule("url", "Hh", rf"(?i:https?)://[^{NOT_CONTROLLED}(){{}}]+{LAST}"),
    Rule(
        "www",
        "Ww",
        rf"(?i:www)\.(?:[^{NOT_CONTROLLED}.!?(){{}},]+\.)+[A-Za-z]{{2,4}}(?:{PATH})?",
    ),
    # Contractions: the first part, when the second follows, and then the second
    Rule("cannot", "Cc", "(?i:can)", "(?i:not)"),
    Rule("gonna", "GgWw", "(?i:gon|wan)", "(?i:na)"),
    Rule("gotta", "Gg", "(?i:got)", "(?i:ta)"),
    Rule("gimme", "GgLl", "(?i:gim|lem)", "(?i:me)"),
    Rule("'tis", "'", "'[tT]", "(?i:is|was)"),
    Rule(
        "before n't",
        "A-Za-z" + S,
        f"[A-Za-z{S}]*[A-MO-Za-mo-z]",
        f"[nN]{ANY_QUOTE}[tT]",
        _drop_hyphens,
    ),
    Rule("n't", "Nn", f"[nN]{ANY_QUOTE}[tT]", f"[^{LETTER}]", _straighten),
    Rule("before 's", START + "&", DOTTED, "'(?i:[smd]|re|ve|ll)", _drop_hyphens),
    Rule("before ’s", START + "&", DOTTED, f"{CURLED}(?i:[smd]|re|ve|ll)", _drop_hyphens),
    Rule("'s", "'", "'(?i:[smd]|re|ve|ll)", "[^A-Za-z]"),
    Rule("’s", "’\x92&", f"{CURLED}(?i:[smd]|re|ve|ll)", change=_straighten),
    # Apostrophes that stay
    Rule("'em", "'’\x92&", f"{APOSTROPHE}(?i:em|till?|cause)"),
    Rule("'n'", "'’\x92&", f"{APOSTROPHE}[nN]{APOSTROPHE}"),
    Rule("'n", "'", "'[nN]", "[ \xa0\t\n]"),
    Rule("’n", "’\x92&", f"{CURLED}[nN]"),
    Rule("'90", "'’\x92&", f"{APOSTROPHE}[0-9][0-9]", AFTER),
    Rule("'90s", "'’\x92&", f"{APOSTROPHE}[2-9]0[sS]"),
    Rule("initial'word", "A-HJ-XZn", f"[A-HJ-XZn]{ANY_QUOTE}[{LETTER}][{LETTER}]+"),
    Rule("o'clock", "DdLlOo", f"(?i:[dlo]){ANY_QUOTE}[{SOLID}][{SOLID}]+"),
    Rule(
        "vowel'vowel",
        LETTER,
        f"[{LETTER}]+[aeiouyAEIOUY]{ANY_QUOTE}[aeiouA-Z][{LETTER}]*",
    ),
    Rule("o'o", "Oo", f"[oO]{ANY_QUOTE}[oO]"),
    Rule("ol'", "DdJjLlOo", f"(?i:[djl]|ol){APOSTROPHE}"),
    Rule("y'all", "Yy", f"(?i:y){APOSTROPHE}", f"[{LETTER}]"),
    Rule("cap'n", "CcDdSs", f"(?i:{'|'.join(APOSTROPHE_WORD)})".replace("@", APOSTROPHE)),
    Rule("nor'easter", "CcEeLlNnSs", f"(?i:{TYPEWRITER_WORD})"),
    # Words
    Rule("word", START + "&", WORD, change=_drop_hyphens),
    Rule("letters and digits", SOLID, f"[{SOLID}]+"),
    Rule("hyphens", SOLID, HYPHENED),
    Rule("joined", START + "&", f"{WORD}(?:[.!?]{WORD})+", change=_drop_hyphens),
    Rule(
        "domain",
        rf"""^{NOT_CONTROLLED}!?(){{}}$'`,-_""",
        rf"""(?:[^{NOT_CONTROLLED}!?(){{}}$'`,-_]{{1,64}}\.){{1,64}}"""
        rf"(?i:com|net|org|edu)(?:{PATH})?",
    ),
    Rule("pro-", "AaPp", "(?i:anti|pro)-"),
    Rule("sentence end", "A-Za-z", f"(?:{SENTENCE_END})\\.", "[^\n](?:.|\n)"),
    Rule("abbreviation", "A-Za-z", f"(?:{SENTENCE_END}|{ABBREVIATION})\\."),
    Rule("dots and hyphens", ASCII, MIXED, change=_drop_hyphens),
    Rule(
        "acronyms",
        ASCII,
        rf"(?:[{ASCII}]+{TIGHT})?(?:[{ASCII}]+-)*(?:[A-Za-z]\.){{2,}}(?:-[{ASCII}]+)*",
    ),
    Rule("slashes", ASCII, rf"{SLASHED}(?:\\?/{SLASHED}){{1,2}}"),
    Rule("initials", "A-Za-z", r"[A-Za-z](?:\.[A-Za-z])*\.", f"(?=[^{LETTER}{MARK}])"),
    Rule(
        "last initial",
        "A-Za-z",
        "[A-Za-z]",
        rf"\.[{SPACE}\x85\n]+(?:{STARTER}|{TAG}|(?:Mr|MR|Ms|MS)\.){AFTER}",
    ),
    Rule(
        "stop and comma",
        WORD_PART + "&",
        rf"(?:{MIXED}|{HYPHENED}|{DOTTED}|{PIECE})\.",
        "[,;:]",
        _drop_hyphens,
    ),
    Rule("no. 5", "A-Za-z", rf"{BEFORE_NUMBER}\.", f"[ \xa0\n]?{D}"),
    Rule("capitals", "A-Z", "[A-Z]+(?:(?:[+&]|&(?i:amp);)[A-Z]+)+", change=_replace_ampersands),
    Rule("currency", "A-Z", r"[A-Z]+\$"),
    Rule("c++", "CcFf", r"[cCfF]#|[cC]\+\+"),
    Rule(
        "file",
        WORD_PART,
        rf"[{WORD_PART}]+(?:\.[{WORD_PART}]+){{0,64}}\.(?i:{EXTENSION})",
        f"[{SPACE}\x85\n!?.,]",
    ),
    # Numbers
    Rule("date", DIGIT, f"{D}{{1,2}}[-/]{D}{{1,2}}[-/]{D}{{2,4}}"),
    Rule("fraction", DIGIT, rf"(?:{D}{{1,4}}[- \xa0])?{D}{{1,4}}(?:\\?/|⁄){D}{{1,4}}"),
    Rule(
        "number",
        f"{DIGIT}.,:٫٬+{S}-",
        f"[-+]?(?:{S}?{RUN}(?:[.,:٫٬]{RUN})*|(?:[.,:٫٬]{RUN})+)",
        change=_drop_hyphens,
    ),
    Rule("raised digits", "²³¹⁰⁴-⁹₀-₉", "[²³¹⁰⁴-⁹₀-₉]+"),
    Rule(
        "telephone",
        f"(+{DIGIT}",
        rf"(?:\({D}{{2,3}}\)[ \xa0]?|\+{{0,2}}{D}{{2,4}}[- \xa0](?:{D}{{2,4}}[- \xa0])?)"
        rf"{D}{{3,4}}[- \xa0]?{D}{{3,5}}",
        change=_name_brackets,
    ),
    # Signs
    Rule("hashtag", "#", f"#(?:[{START}]|{ACCENTED})+|#+"),
    Rule("at name", "@", "@[A-Za-z_][A-Za-z0-9_]*|@+"),
    Rule("!?", "!?", "[!?]+"),
    Rule("stars", r"*\\", r"\*+|(?:\\\*)+"),
    Rule("dashes", "-", "--+", change=_shorten_dashes),
    Rule("underscores", "_", "_+"),
    Rule("dots", ".", r"\.{3,5}|\.(?:[ \xa0]\.){2,4}", change=lambda token: "..."),
    Rule("-lrb-", "-", "-(?i:[lr][rcs]b)-"),
    Rule("quotes", f"'{QUOTES}", f"''|[{QUOTES}]{{1,2}}", change=_replace_sign),
    Rule("entity", "&", f"&(?i:{ENTITY});", change=_replace_entity),
    Rule("character number", "&", "&#[0-9]+;"),
    Rule(
        "smiley",
        "<>:;=",
        r"[<>]?[:;=][-o*']?[()DPdpO\\{@|\[\]]",
        "[^A-Za-z0-9]",
        _name_brackets,
    ),
    Rule("^_^", FACE, f"[{FACE}]_[{FACE}]"),
    Rule("(^_^)", "(", rf"\((?:[{FACE}][_.]?[{FACE}]|[{EYE}]-[{EYE}])\)", change=_name_brackets),
    Rule("<<", "<>", "<<|>>"),
    Rule(
        "sign", SYMBOL + MARK + HYPHENS + S, f"[{SYMBOL}{MARK}{HYPHENS}{S}]", change=_replace_sign
    ),
)
