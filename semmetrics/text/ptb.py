r"""Penn Treebank tokens as COCO's caption evaluation makes them, without Java.

The rules are our own, found by running pycocoevalcap's tokenizer (Stanford's ``PTBTokenizer``
3.4.1 with ``-preserveLines -lowerCase``, then the removal of 17 punctuation tokens) on many
strings. Tokens are lower case. Brackets are ``-lrb-``, ``-rrb-`` and so on and are *not* removed:
the list that pycocoevalcap removes has them in capitals. ``don't`` is ``do``, ``n't``.

Conventions
-----------
The tokens of a caption depend on that caption alone. A token may hold a no-break space, which the
Java program writes for a blank: ``5 1/2`` is one token. (BLEU and CIDEr of pycocoevalcap
split there again.)

At each place the rule with the longest match makes the token; of equal matches the first. What must
follow a token counts in the length of the match but is not part of the token. A caption ends with
``"\n"``, which no token has. Case is ignored where a rule says so, in ASCII only. A repetition is
limited (to 64 parts of an address, say) where a caption could otherwise cost quadratic time.

The kinds of characters were found by giving the Java tokenizer each character of the Basic
Multilingual Plane alone, inside and beside letters, digits and signs. They are near the general
categories of Unicode 6, but not equal to them, and they do not change with the Unicode version of
the Python that runs. A character of no kind, every one beyond that plane (emoji) among them, is no
token and ends the one before it; only addresses (URLs, e-mail) may hold it.

The words were found by giving it every string of up to five letters and some 350,000 English words:
alone, before a full stop, after an initial, and with an apostrophe in every place.

The table of tests/unit/test_tokenize_ptb.py has, under each rule's name, a caption that needs it.

Known differences from pycocoevalcap
------------------------------------
- There, a caption that ends with an initial ("a box of vitamin C.") or with an abbreviation
  of a number ("no.") loses or keeps its full stop by what the *next* caption begins with.
  ``run_on=True`` does the same; by default the stop of the initial stays (``c.``) and that of the
  number goes.
- There, the last caption of a run has no end of line, without which some rules do not match: its
  last "'s" or ":)" may come out in pieces. Here it is as any other.
- A caption with a line separator other than the line feed (carriage return, vertical tab, form
  feed, U+2028, U+2029) becomes several lines there, and every caption after it gets the tokens of
  another. Here, and in ``ptb-java``, each separator is a blank, as the line feed is in both.
- A capital sigma beside a digit or another script is "ς" or "σ" by Python's rule for the end of a
  word, which is not Java's.
- What is dropped within a caption (``&nbsp;``, a lone surrogate) leaves no empty token and raises
  no error.
- Addresses are recognised up to 255 characters before the "@" and 64 parts, and markup
  declarations (``<!...>``) up to 1,000 characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from operator import methodcaller
from pathlib import Path
from typing import NamedTuple, TypeAlias

from semmetrics.text.tokenizers import PUNCTUATION, check_captions, one_line

# Kinds of characters: what is between the brackets of a class of a regular expression.

S = "\xad"  # the soft hyphen
SPACE = " \t\xa0\u2000-\u200a\u3000"


_FILE = Path(__file__).with_name("ptb_tables.txt")
_TABLES = dict(
    re.findall(r"^\[(\w+)\]\n([^#[]+)", _FILE.read_text("utf-8"), re.MULTILINE)
)


def _class_body(kind: str) -> str:
    """Write the ranges of a kind as a regular expression does, without its brackets."""
    return "".join(
        "-".join(f"\\u{int(end, 16):04x}" for end in item.split("-"))
        for item in _TABLES[kind].split()
    )


LETTER = _class_body("letters")
# combining marks and modifiers: letters of plain words only
MARK = _class_body("marks")
DIGIT = _class_body("digits")
# each a token, unless a rule takes it together with others
SYMBOL = _class_body("symbols")

# Words that the rules know by name.


def _any_case(name: str) -> str:
    return f"(?i:{_one_of(name)})"


def _one_of(name: str) -> str:
    return "|".join(_TABLES[name].split())


def _cases(name: str, *forms: str) -> str:
    return "|".join(
        getattr(word, form)() for word in _TABLES[name].split() for form in forms
    )


# Abbreviations that often end a sentence; a full stop after one is a token that is removed anyway,
# but one letter or sign that touches the abbreviation is cut from it.
SENTENCE_END = "|".join(
    [
        _any_case("sentence_end"),
        _cases("sentence_end_states", "title", "upper"),
        _cases("sentence_end_companies", "title", "lower"),
    ]
)
# Abbreviations that seldom do: titles, ranks, saints, streets.
ABBREVIATION = (
    f"{_any_case('abbreviation')}|{_cases('abbreviation_of_trade', 'title', 'lower')}"
)
# Abbreviations only where a number follows.
BEFORE_NUMBER = _any_case("before_number")
# Words that begin a sentence so often that the full stop before them ends the last one.
STARTER = _cases("starter", "title", "upper")
# Words with an apostrophe that no other rule keeps whole; typographic ones count in the first list.
APOSTROPHE_WORD = _one_of("apostrophe")
TYPEWRITER_WORD = _one_of("typewriter_apostrophe")
EXTENSION = _one_of("extension")
ENTITY = _one_of("entity")
# The only words of plain letters that are more than one token.
SPLIT = _one_of("split")

# Parts of rules.

WORD_PART = LETTER + MARK + DIGIT + S
SOLID = LETTER + DIGIT
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


_drop_hyphens = methodcaller("replace", S, "")
_STRAIGHT = str.maketrans({"’": "'", "\x92": "'", "‘": "`", "\x91": "`", "‛": "`"})


def _straighten(token: str) -> str:
    """Write typographic apostrophes as a typewriter does."""
    return token.replace("&apos;", "'").translate(_STRAIGHT)


_SIGNS = (
    dict.fromkeys("‘\x91‛‹", "`")
    | dict.fromkeys("’\x92›", "'")
    | dict.fromkeys("“\x93«", "``")
    | dict.fromkeys('"”\x94»', "''")
    | dict.fromkeys(DASHES, "--")
    | dict.fromkeys("…\x85", "...")
    | dict.fromkeys("€\x80¤₠", "$")
    | {
        "£": "#",
        "¢": "cents",
        "½": "1/2",
        "¼": "1/4",
        "¾": "3/4",
        "⅓": "1/3",
        "⅔": "2/3",
    }
    | {
        "(": "-lrb-",
        ")": "-rrb-",
        "[": "-lsb-",
        "]": "-rsb-",
        "{": "-lcb-",
        "}": "-rcb-",
    }
    | dict.fromkeys(HYPHENS, "")
    | {S: "-"}
)


_replace_sign = methodcaller("translate", str.maketrans(_SIGNS))
_name_brackets = methodcaller("translate", str.maketrans({"(": "-lrb-", ")": "-rrb-"}))


_ENTITIES = {"&quot;": "''", "&apos;": "'", "&mdash;": "--", "&ndash;": "--"}
_IN_ANY_CASE = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&nbsp;": "", "&md;": "--"}


def _shorten_dots(token: str) -> str:
    return "..."


def _shorten_dashes(token: str) -> str:
    return "--" if len(token) < 5 else token


def _replace_entity(token: str) -> str:
    return _IN_ANY_CASE.get(token.lower(), _ENTITIES.get(token, token))


_replace_ampersands = partial(re.compile("&amp;", re.IGNORECASE).sub, "&")


RULES = (
    # Markup and addresses
    Rule("blanks", SPACE, f"[{SPACE}]+", change=str.strip),
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
    Rule(
        "before ’s", START + "&", DOTTED, f"{CURLED}(?i:[smd]|re|ve|ll)", _drop_hyphens
    ),
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
    Rule("cap'n", "CcDdSs", f"(?i:{APOSTROPHE_WORD})".replace("@", APOSTROPHE)),
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
    Rule(
        "capitals",
        "A-Z",
        "[A-Z]+(?:(?:[+&]|&(?i:amp);)[A-Z]+)+",
        change=_replace_ampersands,
    ),
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
    Rule("dots", ".", r"\.{3,5}|\.(?:[ \xa0]\.){2,4}", change=_shorten_dots),
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
    Rule(
        "(^_^)",
        "(",
        rf"\((?:[{FACE}][_.]?[{FACE}]|[{EYE}]-[{EYE}])\)",
        change=_name_brackets,
    ),
    Rule("<<", "<>", "<<|>>"),
    Rule(
        "sign",
        SYMBOL + MARK + HYPHENS + S,
        f"[{SYMBOL}{MARK}{HYPHENS}{S}]",
        change=_replace_sign,
    ),
)

_CACHED = 200_000  # words kept with their tokens
_LONGEST = 40  # letters of a word that is kept

# A word after which the next one counts: an initial, or an abbreviation of a number.
_OPEN = rf"(?:^|[^A-Za-z]|'[A-Za-z]*)(?:[A-Za-z]|{BEFORE_NUMBER})\."
_OPEN_END = re.compile(_OPEN + "$")
# Where a token may run across a blank, or an odd blank stands.
_RUNS_ON = re.compile(rf"[^\S ]|<|[\d)] +\d|\. \.|{_OPEN} ")
# Letters and at most one sign that is removed: what most new words are, told without the rules.
_SIMPLE = re.compile(
    rf"(?!(?:{SENTENCE_END}|{ABBREVIATION}|[A-Za-z])\.|(?i:{SPLIT})(?![A-Za-z]))"
    r"([A-Za-z]+)[.,;:!?]?"
)
# A word that no word beside it can change.
_PLAIN = re.compile(r"""[A-Za-z'"(),;:!?.&/-]*""")


_Do: TypeAlias = tuple[
    Callable[[str, int], "re.Match[str] | None"], "Callable[[str], str] | None"
]


class Scanner:
    """A scanner that cuts captions into tokens by the rules, the longest match first.

    Examples
    --------
    >>> Scanner().scan("The dog's ball isn't red.")
    ['the', 'dog', "'s", 'ball', 'is', "n't", 'red']
    """

    def __init__(self) -> None:
        self._rules = []
        for _, starts, token, follow, change in RULES:
            # group 1 is the token
            pattern = re.compile(f"({token})(?:{follow})", re.ASCII)
            self._rules.append((re.compile(f"[{starts}]"), (pattern.match, change)))
        self._by_first: dict[str, list[_Do]] = {}

    def scan(self, caption: str, following: str = "") -> list[str]:
        """Return the tokens of one caption without line separators.

        Parameters
        ----------
        caption : str
        following : str, optional
            The next line, where that is to count.
        """
        text, place, pieces = f"{caption}\n{following}", 0, list[str]()
        while place < len(caption):
            first = text[place]
            rules = self._by_first.get(first)
            if rules is None:
                matching = (do for starts, do in self._rules if starts.match(first))
                rules = self._by_first[first] = list(matching)
            longest, best, change = place, None, None
            for match, its_change in rules:
                found = match(text, place)
                if found is not None and found.end() > longest:
                    longest, best, change = found.end(), found, its_change
            if best is None:
                place += 1
                continue
            token = best[1] if change is None else change(best[1])
            if token:
                pieces.append(token.replace(" ", "\xa0").lower())
            place = best.end(1)
        if pieces:
            pieces[-1] = pieces[-1].rstrip()
        return [piece for piece in pieces if piece and piece not in PUNCTUATION]


class _WordTokens(dict[str, list[str]]):
    """The tokens of single words, found at their first use.

    Words that no neighbour can change are in ``plain``, too.
    """

    def __init__(self, scanner: Scanner, plain: dict[str, list[str]]) -> None:
        super().__init__()
        self._scanner, self._plain = scanner, plain

    def __missing__(self, word: str) -> list[str]:
        simple = _SIMPLE.fullmatch(word)
        found = [simple[1].lower()] if simple else self._scanner.scan(word)
        if len(word) <= _LONGEST:
            if len(self) >= _CACHED:
                self.clear()
                self._plain.clear()
            self[word] = found
            if (simple or _PLAIN.fullmatch(word)) and not _OPEN_END.search(word):
                self._plain[word] = found
        return found


class PtbTokenizer:
    """The tokenizer of the Penn Treebank rules.

    Words are looked up with their tokens once they have been seen; only captions in which a token
    may depend on its neighbours are scanned whole.

    Parameters
    ----------
    run_on : bool, optional
        Let the beginning of each caption count for the end of the one before it, as pycocoevalcap
        does; the tokens of a caption then depend on the order of the captions.

    Attributes
    ----------
    name : str
        "ptb", or "ptb-run-on".

    Examples
    --------
    >>> PtbTokenizer().tokens(["A man's hat (red).", "It cannot fly!"])
    [['a', 'man', "'s", 'hat', '-lrb-', 'red', '-rrb-'], ['it', 'can', 'not', 'fly']]
    """

    def __init__(self, *, run_on: bool = False) -> None:
        self.name = "ptb-run-on" if run_on else "ptb"
        self._run_on = run_on
        self._scanner = Scanner()
        self._plain: dict[str, list[str]] = {}
        self._alone = _WordTokens(self._scanner, self._plain)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def tokens(self, captions: Sequence[str]) -> list[list[str]]:
        """Return the tokens of each caption.

        Parameters
        ----------
        captions : sequence of str

        Returns
        -------
        list of list of str

        Raises
        ------
        InputError
            If a caption is not a string; names its index.
        """
        check_captions(captions)
        plain = self._plain
        result = []
        for caption in captions:
            try:
                result.append(
                    [token for word in caption.split(" ") for token in plain[word]]
                )
            except KeyError:
                # a word is new or not plain
                line, alone = (
                    one_line(caption),
                    self._alone,
                )
                if _RUNS_ON.search(line):
                    result.append(self._scanner.scan(line))
                else:
                    result.append(
                        [token for word in line.split(" ") for token in alone[word]]
                    )
        for index in range(len(captions) - 1) if self._run_on else ():
            line = one_line(captions[index])
            # its end may depend on the next caption
            if _OPEN_END.search(line.rstrip()):
                result[index] = self._scanner.scan(
                    line, one_line(captions[index + 1]) + "\n"
                )
        return result
