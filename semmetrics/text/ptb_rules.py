r"""The rules of Penn Treebank tokens, as a table of regular expressions.

Conventions
-----------
A rule has a pattern for its token and may have a pattern for what must follow the
token. The rules were found by running pycocoevalcap's tokenizer (Stanford's
``PTBTokenizer`` 3.4.1 with ``-preserveLines -lowerCase``) on many strings.
`semmetrics.text.ptb` describes how they are applied.

*Character sets* are parts of a regular expression that go between the brackets of
``[...]``. *Alternations* are words with ``|`` between them.

The character sets of letters, marks, digits and symbols were found by giving the Java
tokenizer each character of the Basic Multilingual Plane, both as a caption of one
character and between letters, digits and signs. They are close to the general
categories of Unicode 6, but not equal. They do not depend on the Unicode version of the
running Python. A character outside these sets (such as an emoji, or any other character
outside that plane) is not part of a token and ends the token before it. Only addresses
(URLs, e-mail) may contain it.

The word lists were found by giving it every string of up to five letters and some
350,000 English words: as a caption of one word, before a full stop, after an initial,
and with an apostrophe at every position.

Case matters unless a rule ignores it, which concerns ASCII letters only. Repetitions
that could take quadratic time on a long caption are limited, for example to 64 parts of
an address.

The table ``ptb_cases.json`` of the tests has, under the name of each rule, a caption
that needs it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

# The tokens that pycocoevalcap removes. Its list has brackets in capitals.
PUNCTUATION = frozenset(
    ["''", "'", "``", "`", "-LRB-", "-RRB-", "-LCB-", "-RCB-", "--", "...", *".?!,:-;"]
)

_FILE = Path(__file__).with_name("ptb_tables.txt")
_SECTION = re.compile(r"^\[(\w+)\]\n([^#[]+)", re.MULTILINE)
_TABLES = dict(_SECTION.findall(_FILE.read_text("utf-8")))
"""The words, or ranges of code points, of each section of the file."""


# ---- character sets ------------------------------------------------------------------


def _character_set(name: str) -> str:
    r"""Return a section as a character set: "41-5a" becomes ``\u0041-\u005a``."""
    ranges = []
    for code_range in _TABLES[name].split():
        codes = [int(code, 16) for code in code_range.split("-")]
        ranges.append("-".join(f"\\u{code:04x}" for code in codes))
    return "".join(ranges)


SOFT_HYPHEN = "\xad"
SPACES = " \t\xa0\u2000-\u200a\u3000"
LETTERS = _character_set("letters")
MARKS = _character_set("marks")  # combining marks and modifiers, part of plain words
DIGITS = _character_set("digits")
SYMBOLS = _character_set("symbols")
ASCII = "A-Za-z0-9"
LETTERS_OR_DIGITS = LETTERS + DIGITS
WORD_START = LETTERS + MARKS + SOFT_HYPHEN
WORD_PART = WORD_START + DIGITS
NOT_IN_ADDRESS = ' \t\n"<>|'
QUOTES = "`‘’“”‛‟‹›«»„‚\x91\x92\x93\x94"
DASHES = "–—―\x96\x97"
HYPHENS = "֊‐‑"
EYES = "x=~<>'^"  # of a smiley such as (^_^)
EYES_OR_HYPHEN = "-" + EYES


# ---- alternations of words -----------------------------------------------------------


def _any_of(name: str) -> str:
    """Return an alternation of the words of a section."""
    return "|".join(_TABLES[name].split())


def _any_of_in_any_case(name: str) -> str:
    """Return an alternation of the words of a section that ignores case."""
    return f"(?i:{_any_of(name)})"


def _any_of_in_cases(name: str, *changes_of_case: Callable[[str], str]) -> str:
    """Return an alternation of the words of a section, each in the given cases."""
    forms = []
    for word in _TABLES[name].split():
        for change_case in changes_of_case:
            forms.append(change_case(word))
    return "|".join(forms)


# Abbreviations that often end a sentence. The full stop after one becomes a token that
# is removed later, but a letter or sign that touches the abbreviation is cut from it.
SENTENCE_END = "|".join(
    [
        _any_of_in_any_case("sentence_end"),
        _any_of_in_cases("sentence_end_states", str.title, str.upper),
        _any_of_in_cases("sentence_end_companies", str.title, str.lower),
    ]
)
# Abbreviations that seldom end a sentence: titles, ranks, saints, streets.
ABBREVIATION = "|".join(
    [
        _any_of_in_any_case("abbreviation"),
        _any_of_in_cases("abbreviation_of_trade", str.title, str.lower),
    ]
)
# Abbreviations only if a number follows.
BEFORE_NUMBER = _any_of_in_any_case("before_number")
# Words that begin a sentence so often that the full stop before them ends the previous
# one.
STARTER = _any_of_in_cases("starter", str.title, str.upper)
# Words with an apostrophe that no other rule keeps whole. "@" is any apostrophe.
APOSTROPHE_WORD = _any_of("apostrophe")
# The same, only with a typewriter apostrophe.
TYPEWRITER_WORD = _any_of("typewriter_apostrophe")
EXTENSION = _any_of("extension")
ENTITY = _any_of("entity")
# The only words of plain letters that are more than one token.
SPLIT_WORD = _any_of("split")


# ---- parts of patterns ---------------------------------------------------------------

SPACE_OR_END = f"[{SPACES}\x85\n]"
APOSTROPHE = "(?:['’\x92]|&apos;)"
CURLY_APOSTROPHE = "(?:[’\x92]|&apos;)"
ANY_SINGLE_QUOTE = "(?:['’\x92‘\x91‛`]|&apos;)"

ACCENTED = "&[aeiouAEIOU](?:acute|grave|[uU][mM][lL]);"  # an SGML entity of a letter
WORD = f"(?:[{WORD_START}]|{ACCENTED})(?:[{WORD_PART}]|{ACCENTED})*"
WORD_WITH_STOPS = f"{WORD}(?:[.!?]{WORD})*"
DIGIT = f"[{DIGITS}]"
DIGIT_RUN = f"{DIGIT}(?:{SOFT_HYPHEN}?{DIGIT})*"
HYPHEN_PART = (
    f"(?:(?i:[dlo]){ANY_SINGLE_QUOTE}[{LETTERS_OR_DIGITS}])?[{LETTERS_OR_DIGITS}]+"
)
HYPHENATED = f"{HYPHEN_PART}(?:[-_{HYPHENS}]{HYPHEN_PART})+"
STOPS_AND_HYPHENS = (
    f"[{ASCII}][{ASCII}{SOFT_HYPHEN}]*"
    f"(?:[.,][{ASCII}{SOFT_HYPHEN}]*){{0,64}}"
    f"-[{ASCII}{SOFT_HYPHEN}]+(?:-[{ASCII}{SOFT_HYPHEN}]+)*"
)
STOPS_THEN_HYPHEN = rf"(?:[.,][{ASCII}]*){{0,64}}-"
SLASH_PART = r"[A-Za-z0-9]+(?:-[A-Za-z]+){0,2}"

ATTRIBUTE = r"[A-Za-z][A-Za-z0-9_:.\-]*"
ATTRIBUTE_VALUE = "\"[^\"\n]*\"|'[^'\n]*'"
TAG = (
    rf"(?:<{ATTRIBUTE}(?: +{ATTRIBUTE}(?: *= *(?:{ATTRIBUTE_VALUE}))?)* */? *>"
    rf"|</{ATTRIBUTE} *>"
    r"|<[!?][A-Za-z\-][^>\n]{0,1000}>)"
)
PATH_END = r"""[^ \t\n"<>|(){}.!?,\-]"""
PATH = f"/[^{NOT_IN_ADDRESS}()]+{PATH_END}"
HOST = rf"[^{NOT_IN_ADDRESS}(){{}}.\xa0]+"


# ---- normal forms of tokens ----------------------------------------------------------

_STRAIGHT_QUOTES = str.maketrans(
    {"’": "'", "\x92": "'", "‘": "`", "\x91": "`", "‛": "`"}
)
_ROUND_BRACKETS = str.maketrans({"(": "-lrb-", ")": "-rrb-"})
_AMPERSAND_ENTITY = re.compile("&amp;", re.IGNORECASE)
_ENTITIES = {"&quot;": "''", "&apos;": "'", "&mdash;": "--", "&ndash;": "--"}
_ENTITIES_IN_ANY_CASE = {
    "&amp;": "&",
    "&lt;": "<",
    "&gt;": ">",
    "&nbsp;": "",
    "&md;": "--",
}
_SIGNS_BY_FORM = {
    "`": "‘\x91‛‹",
    "'": "’\x92›",
    "``": "“\x93«",
    "''": '"”\x94»',
    "--": DASHES,
    "...": "…\x85",
    "$": "€\x80¤₠",
    "#": "£",
    "cents": "¢",
    "1/2": "½",
    "1/4": "¼",
    "3/4": "¾",
    "1/3": "⅓",
    "2/3": "⅔",
    "-lrb-": "(",
    "-rrb-": ")",
    "-lsb-": "[",
    "-rsb-": "]",
    "-lcb-": "{",
    "-rcb-": "}",
    "-": SOFT_HYPHEN,
    "": HYPHENS,
}


def _translation_of_signs() -> dict[int, str]:
    """Return the table for ``str.translate`` from each sign to its form as a token."""
    translation = {}
    for form, signs in _SIGNS_BY_FORM.items():
        for sign in signs:
            translation[ord(sign)] = form
    return translation


_SIGN_FORMS = _translation_of_signs()


def _drop(token: str) -> str:
    """Return an empty token, which is left out."""
    return ""


def _drop_soft_hyphens(token: str) -> str:
    return token.replace(SOFT_HYPHEN, "")


def _straighten_quotes(token: str) -> str:
    """Replace typographic apostrophes by typewriter apostrophes."""
    return token.replace("&apos;", "'").translate(_STRAIGHT_QUOTES)


def _replace_signs(token: str) -> str:
    return token.translate(_SIGN_FORMS)


def _name_round_brackets(token: str) -> str:
    return token.translate(_ROUND_BRACKETS)


def _shorten_dots(token: str) -> str:
    return "..."


def _shorten_dashes(token: str) -> str:
    """Return two dashes for up to four."""
    if len(token) <= 4:
        return "--"
    return token


def _replace_entity(token: str) -> str:
    """Return the character of an SGML entity, and unknown entities unchanged."""
    character = _ENTITIES_IN_ANY_CASE.get(token.lower())
    if character is None:
        return _ENTITIES.get(token, token)
    return character


def _replace_ampersands(token: str) -> str:
    return _AMPERSAND_ENTITY.sub("&", token)


# ---- rules ---------------------------------------------------------------------------


class Rule(NamedTuple):
    """A pattern of tokens.

    Attributes
    ----------
    name : str
        Unique, for the tests.
    first : str
        Character set of the first character of a token.
    token : str
        Regular expression of the token, without capturing groups.
    follow : str
        Regular expression of what must follow the token.
    normalize : callable, optional
        Returns the form of a matched token.
    """

    name: str
    first: str
    token: str
    follow: str = ""
    normalize: Callable[[str], str] | None = None


_MARKUP_AND_ADDRESSES = (
    Rule("blanks", SPACES, f"[{SPACES}]+", normalize=_drop),
    Rule("tag", "<", TAG),
    Rule(
        "e-mail",
        f"<&{ASCII}",
        rf"(?:<|&lt;)?[{ASCII}][^{NOT_IN_ADDRESS}(){{}}\xa0]{{0,255}}@(?:{HOST}\.)*{HOST}>?",
    ),
    Rule("url", "Hh", rf"(?i:https?)://[^{NOT_IN_ADDRESS}(){{}}]+{PATH_END}"),
    Rule(
        "www",
        "Ww",
        rf"(?i:www)\.(?:[^{NOT_IN_ADDRESS}.!?(){{}},]+\.)+[A-Za-z]{{2,4}}(?:{PATH})?",
    ),
)

# The first part of a contraction if the second part follows, and then the second part.
_CONTRACTIONS = (
    Rule("cannot", "Cc", "(?i:can)", "(?i:not)"),
    Rule("gonna", "GgWw", "(?i:gon|wan)", "(?i:na)"),
    Rule("gotta", "Gg", "(?i:got)", "(?i:ta)"),
    Rule("gimme", "GgLl", "(?i:gim|lem)", "(?i:me)"),
    Rule("'tis", "'", "'[tT]", "(?i:is|was)"),
    Rule(
        "before n't",
        "A-Za-z" + SOFT_HYPHEN,
        f"[A-Za-z{SOFT_HYPHEN}]*[A-MO-Za-mo-z]",
        f"[nN]{ANY_SINGLE_QUOTE}[tT]",
        _drop_soft_hyphens,
    ),
    Rule(
        "n't",
        "Nn",
        f"[nN]{ANY_SINGLE_QUOTE}[tT]",
        f"[^{LETTERS}]",
        _straighten_quotes,
    ),
    Rule(
        "before 's",
        WORD_START + "&",
        WORD_WITH_STOPS,
        "'(?i:[smd]|re|ve|ll)",
        _drop_soft_hyphens,
    ),
    Rule(
        "before ’s",
        WORD_START + "&",
        WORD_WITH_STOPS,
        f"{CURLY_APOSTROPHE}(?i:[smd]|re|ve|ll)",
        _drop_soft_hyphens,
    ),
    Rule("'s", "'", "'(?i:[smd]|re|ve|ll)", "[^A-Za-z]"),
    Rule(
        "’s",
        "’\x92&",
        f"{CURLY_APOSTROPHE}(?i:[smd]|re|ve|ll)",
        normalize=_straighten_quotes,
    ),
)

# Words that keep their apostrophe.
_APOSTROPHES = (
    Rule("'em", "'’\x92&", f"{APOSTROPHE}(?i:em|till?|cause)"),
    Rule("'n'", "'’\x92&", f"{APOSTROPHE}[nN]{APOSTROPHE}"),
    Rule("'n", "'", "'[nN]", "[ \xa0\t\n]"),
    Rule("’n", "’\x92&", f"{CURLY_APOSTROPHE}[nN]"),
    Rule("'90", "'’\x92&", f"{APOSTROPHE}[0-9][0-9]", SPACE_OR_END),
    Rule("'90s", "'’\x92&", f"{APOSTROPHE}[2-9]0[sS]"),
    Rule(
        "initial'word",
        "A-HJ-XZn",
        f"[A-HJ-XZn]{ANY_SINGLE_QUOTE}[{LETTERS}][{LETTERS}]+",
    ),
    Rule(
        "o'clock",
        "DdLlOo",
        f"(?i:[dlo]){ANY_SINGLE_QUOTE}[{LETTERS_OR_DIGITS}][{LETTERS_OR_DIGITS}]+",
    ),
    Rule(
        "vowel'vowel",
        LETTERS,
        f"[{LETTERS}]+[aeiouyAEIOUY]{ANY_SINGLE_QUOTE}[aeiouA-Z][{LETTERS}]*",
    ),
    Rule("o'o", "Oo", f"[oO]{ANY_SINGLE_QUOTE}[oO]"),
    Rule("ol'", "DdJjLlOo", f"(?i:[djl]|ol){APOSTROPHE}"),
    Rule("y'all", "Yy", f"(?i:y){APOSTROPHE}", f"[{LETTERS}]"),
    Rule("cap'n", "CcDdSs", f"(?i:{APOSTROPHE_WORD})".replace("@", APOSTROPHE)),
    Rule("nor'easter", "CcEeLlNnSs", f"(?i:{TYPEWRITER_WORD})"),
)

_WORDS = (
    Rule("word", WORD_START + "&", WORD, normalize=_drop_soft_hyphens),
    Rule("letters and digits", LETTERS_OR_DIGITS, f"[{LETTERS_OR_DIGITS}]+"),
    Rule("hyphens", LETTERS_OR_DIGITS, HYPHENATED),
    Rule(
        "joined",
        WORD_START + "&",
        f"{WORD}(?:[.!?]{WORD})+",
        normalize=_drop_soft_hyphens,
    ),
    Rule(
        "domain",
        rf"""^{NOT_IN_ADDRESS}!?(){{}}$'`,-_""",
        rf"""(?:[^{NOT_IN_ADDRESS}!?(){{}}$'`,-_]{{1,64}}\.){{1,64}}"""
        rf"(?i:com|net|org|edu)(?:{PATH})?",
    ),
    Rule("pro-", "AaPp", "(?i:anti|pro)-"),
    Rule("sentence end", "A-Za-z", rf"(?:{SENTENCE_END})\.", "[^\n](?:.|\n)"),
    Rule("abbreviation", "A-Za-z", rf"(?:{SENTENCE_END}|{ABBREVIATION})\."),
    Rule(
        "dots and hyphens",
        ASCII,
        STOPS_AND_HYPHENS,
        normalize=_drop_soft_hyphens,
    ),
    Rule(
        "acronyms",
        ASCII,
        rf"(?:[{ASCII}]+{STOPS_THEN_HYPHEN})?"
        rf"(?:[{ASCII}]+-)*(?:[A-Za-z]\.){{2,}}(?:-[{ASCII}]+)*",
    ),
    Rule("slashes", ASCII, rf"{SLASH_PART}(?:\\?/{SLASH_PART}){{1,2}}"),
    # What follows initials does not count in the length of the match.
    Rule(
        "initials", "A-Za-z", r"[A-Za-z](?:\.[A-Za-z])*\.", f"(?=[^{LETTERS}{MARKS}])"
    ),
    Rule(
        "last initial",
        "A-Za-z",
        "[A-Za-z]",
        rf"\.[{SPACES}\x85\n]+(?:{STARTER}|{TAG}|(?:Mr|MR|Ms|MS)\.){SPACE_OR_END}",
    ),
    Rule(
        "stop and comma",
        WORD_PART + "&",
        rf"(?:{STOPS_AND_HYPHENS}|{HYPHENATED}|{WORD_WITH_STOPS}|{HYPHEN_PART})\.",
        "[,;:]",
        _drop_soft_hyphens,
    ),
    Rule("no. 5", "A-Za-z", rf"{BEFORE_NUMBER}\.", f"[ \xa0\n]?{DIGIT}"),
    Rule(
        "capitals",
        "A-Z",
        "[A-Z]+(?:(?:[+&]|&(?i:amp);)[A-Z]+)+",
        normalize=_replace_ampersands,
    ),
    Rule("currency", "A-Z", r"[A-Z]+\$"),
    Rule("c++", "CcFf", r"[cCfF]#|[cC]\+\+"),
    Rule(
        "file",
        WORD_PART,
        rf"[{WORD_PART}]+(?:\.[{WORD_PART}]+){{0,64}}\.(?i:{EXTENSION})",
        f"[{SPACES}\x85\n!?.,]",
    ),
)

_NUMBERS = (
    Rule("date", DIGITS, f"{DIGIT}{{1,2}}[-/]{DIGIT}{{1,2}}[-/]{DIGIT}{{2,4}}"),
    Rule(
        "fraction",
        DIGITS,
        rf"(?:{DIGIT}{{1,4}}[- \xa0])?{DIGIT}{{1,4}}(?:\\?/|⁄){DIGIT}{{1,4}}",
    ),
    Rule(
        "number",
        f"{DIGITS}.,:٫٬+{SOFT_HYPHEN}-",
        f"[-+]?(?:{SOFT_HYPHEN}?{DIGIT_RUN}(?:[.,:٫٬]{DIGIT_RUN})*|(?:[.,:٫٬]{DIGIT_RUN})+)",
        normalize=_drop_soft_hyphens,
    ),
    Rule("raised digits", "²³¹⁰⁴-⁹₀-₉", "[²³¹⁰⁴-⁹₀-₉]+"),
    Rule(
        "telephone",
        f"(+{DIGITS}",
        rf"(?:\({DIGIT}{{2,3}}\)[ \xa0]?"
        rf"|\+{{0,2}}{DIGIT}{{2,4}}[- \xa0](?:{DIGIT}{{2,4}}[- \xa0])?)"
        rf"{DIGIT}{{3,4}}[- \xa0]?{DIGIT}{{3,5}}",
        normalize=_name_round_brackets,
    ),
)

_SIGNS = (
    Rule("hashtag", "#", f"#(?:[{WORD_START}]|{ACCENTED})+|#+"),
    Rule("at name", "@", "@[A-Za-z_][A-Za-z0-9_]*|@+"),
    Rule("!?", "!?", "[!?]+"),
    Rule("stars", r"*\\", r"\*+|(?:\\\*)+"),
    Rule("dashes", "-", "--+", normalize=_shorten_dashes),
    Rule("underscores", "_", "_+"),
    Rule("dots", ".", r"\.{3,5}|\.(?:[ \xa0]\.){2,4}", normalize=_shorten_dots),
    Rule("-lrb-", "-", "-(?i:[lr][rcs]b)-"),
    Rule("quotes", f"'{QUOTES}", f"''|[{QUOTES}]{{1,2}}", normalize=_replace_signs),
    Rule("entity", "&", f"&(?i:{ENTITY});", normalize=_replace_entity),
    Rule("character number", "&", "&#[0-9]+;"),
    Rule(
        "smiley",
        "<>:;=",
        r"[<>]?[:;=][-o*']?[()DPdpO\\{@|\[\]]",
        "[^A-Za-z0-9]",
        _name_round_brackets,
    ),
    Rule("^_^", EYES_OR_HYPHEN, f"[{EYES_OR_HYPHEN}]_[{EYES_OR_HYPHEN}]"),
    Rule(
        "(^_^)",
        "(",
        rf"\((?:[{EYES_OR_HYPHEN}][_.]?[{EYES_OR_HYPHEN}]|[{EYES}]-[{EYES}])\)",
        normalize=_name_round_brackets,
    ),
    Rule("<<", "<>", "<<|>>"),
    Rule(
        "sign",
        SYMBOLS + MARKS + HYPHENS + SOFT_HYPHEN,
        f"[{SYMBOLS}{MARKS}{HYPHENS}{SOFT_HYPHEN}]",
        normalize=_replace_signs,
    ),
)

RULES = (
    *_MARKUP_AND_ADDRESSES,
    *_CONTRACTIONS,
    *_APOSTROPHES,
    *_WORDS,
    *_NUMBERS,
    *_SIGNS,
)
"""All rules. If two match equally long, the first one makes the token."""
