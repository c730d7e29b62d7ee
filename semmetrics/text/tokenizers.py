"""Tokenizers of captions, by name or from a function.

Conventions
-----------
A tokenizer has a ``name``, which goes into the signature. It returns the same tokens
for the same captions every time.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from typing import Protocol, runtime_checkable

import numpy as np

from semmetrics.core.hashing import UNVERSIONED, own_version, qualified_name
from semmetrics.core.ragged import Codes, Ints, offsets
from semmetrics.data.lists import code_values
from semmetrics.errors import FROM_0, InputError
from semmetrics.messages import did_you_mean
from semmetrics.text.captions import check_captions, check_count


@runtime_checkable
class Tokenizer(Protocol):
    """The interface of a tokenizer.

    Attributes
    ----------
    name : str
        The name in the signature.
    """

    name: str

    def tokens(self, captions: Sequence[str]) -> list[list[str]]:
        """Return the tokens of each caption."""


class NamedTokenizer:
    """A tokenizer from a name and a function.

    Parameters
    ----------
    name : str
    tokenize : callable
        Returns the token list of each caption of a list.

    Examples
    --------
    >>> NamedTokenizer("whitespace", partial(map, str.split)).tokens(["A dog  runs."])
    [['A', 'dog', 'runs.']]
    """

    def __init__(
        self, name: str, tokenize: Callable[[Sequence[str]], Iterable[list[str]]]
    ) -> None:
        self.name = name
        self._tokenize = tokenize

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def tokens(self, captions: Sequence[str]) -> list[list[str]]:
        """Return the tokens of each caption.

        Raises
        ------
        InputError
            If a caption is not a string. The message has its index.
        """
        check_captions(captions)
        return list(self._tokenize(captions))


class CachingTokenizer:
    """A tokenizer that tokenizes each caption once, for all systems together.

    Parameters
    ----------
    tokenizer : Tokenizer

    Examples
    --------
    >>> tokenizer = CachingTokenizer(open_tokenizer("whitespace"))
    >>> tokenizer.name, tokenizer.tokens(["a cat", "a dog", "a cat"])
    ('whitespace', [['a', 'cat'], ['a', 'dog'], ['a', 'cat']])
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.name = tokenizer.name
        self._tokenizer = tokenizer
        self._tokens_of_caption: dict[str, list[str]] = {}

    def tokens(self, captions: Sequence[str]) -> list[list[str]]:
        """Return the tokens of each caption."""
        cache = self._tokens_of_caption
        distinct = dict.fromkeys(captions)
        new_captions = [caption for caption in distinct if caption not in cache]
        new_tokens = self._tokenizer.tokens(new_captions)
        check_count(f"the tokenizer {self.name}", new_tokens, new_captions)
        cache.update(zip(new_captions, new_tokens, strict=True))
        return [cache[caption] for caption in captions]

    def forget(self) -> None:
        """Discard the cached tokens."""
        self._tokens_of_caption = {}


# ---- 13a -----------------------------------------------------------------------------

_ENTITIES = {"&quot;": '"', "&amp;": "&", "&lt;": "<", "&gt;": ">"}
_PUNCTUATION = '!"#$%&()*+/:;<=>?@[\\]^_`{|}~'
_SPACED_PUNCTUATION = str.maketrans({sign: f" {sign} " for sign in _PUNCTUATION})
# Applied in this order, each to the whole caption.
_SPACES_NEXT_TO_DIGITS = (
    (re.compile("([^0-9])([.,])"), r"\1 \2 "),
    (re.compile("([.,])([^0-9])"), r" \1 \2"),
    (re.compile("([0-9])-"), r"\1 - "),
)


def split_13a(caption: str) -> list[str]:
    """Return the tokens of a caption as mteval-v13a.pl and sacreBLEU's ``13a`` do.

    Case does not change, as in sacreBLEU by default. Only ASCII punctuation is cut off,
    and a full stop or comma between digits is not.

    References
    ----------
    NIST, 2009, mteval-v13a.pl, tokenization of Western languages. Post, 2018, A call
    for clarity in reporting BLEU scores.

    Examples
    --------
    >>> split_13a("It's 1,000.5 kg, isn't it?")
    ["It's", '1,000.5', 'kg', ',', "isn't", 'it', '?']
    """
    line = caption.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    if "&" in line:
        for entity, sign in _ENTITIES.items():
            line = line.replace(entity, sign)
    line = f" {line} ".translate(_SPACED_PUNCTUATION)
    for pattern, replacement in _SPACES_NEXT_TO_DIGITS:
        line = pattern.sub(replacement, line)
    return line.split()


# ---- tokenizers of users -------------------------------------------------------------

_PROBE_CAPTIONS = (
    "",
    "A dog runs.",
    'Two women, a man and 3 children don\'t eat (in) the "blue-green" café!',
    "The U.S. flag costs $1,000.50 - see http://example.org/a_b?c=1 & more...",
    "10:30 a.m.: it's John's 2nd T-shirt; half/half",
)


def _with_version(
    name: str, owner: object, tokenize: Callable[[Sequence[str]], list[list[str]]]
) -> NamedTokenizer:
    """Return a user's tokenizer, named by its version and its behaviour.

    The name ends with a hash of the version and of the tokens of a few captions.
    Without a version it contains "unversioned", because another tokenizer may return
    the same tokens. If the tokenizer fails on these captions, only the version is
    hashed.

    Parameters
    ----------
    name : str
    owner : object
        The function or tokenizer, which may have an attribute ``version``.
    tokenize : callable
        Returns the token list of each caption of a list.
    """
    version = own_version(owner)
    try:
        probe_tokens = tokenize(_PROBE_CAPTIONS)
    except InputError:  # it may accept certain captions only
        probe_tokens = None
    behaviour = json.dumps([version or "", probe_tokens]).encode()
    digest = hashlib.sha256(behaviour).hexdigest()[:12]
    separator = f"{UNVERSIONED}-" if version is None else "@"
    return NamedTokenizer(f"{name}{separator}{digest}", tokenize)


def _apply_to_each(
    function: Callable[[str], Sequence[str]], captions: Sequence[str]
) -> list[list[str]]:
    """Return the tokens of each caption by a user's function.

    Raises
    ------
    InputError
        If the function raises an error, or does not return a list or tuple of strings.
        The message has the index of the caption.
    """
    try:
        results = list(map(function, captions))
    except Exception as error:
        raise InputError(
            "own-code-failed",
            kind=type(error).__name__,
            what=f"the tokenizer {qualified_name(function)}",
            why=error,
            remedy="give a function that takes a caption and returns a list of tokens",
        ) from error
    for index, tokens in enumerate(results):
        if not _is_token_list(tokens):
            where = f"caption {index}{FROM_0}"
            wanted = "a list of tokens (strings)"
            raise InputError("wrong-type", where, value=tokens, wanted=wanted)
    return list(map(list, results))


def _is_token_list(tokens: object) -> bool:
    """Return whether a value is a list or tuple of strings."""
    if not isinstance(tokens, (list, tuple)):
        return False
    types = set(map(type, tokens))
    return types <= {str}


# ---- opening -------------------------------------------------------------------------


def _open_ptb() -> Tokenizer:
    from semmetrics.text.ptb import PtbTokenizer

    return PtbTokenizer()


def _open_ptb_java() -> Tokenizer:
    from semmetrics.text.java_tokenizer import PtbJavaTokenizer

    return PtbJavaTokenizer()


def _open_13a() -> Tokenizer:
    return NamedTokenizer("13a", partial(map, split_13a))


def _open_whitespace() -> Tokenizer:
    return NamedTokenizer("whitespace", partial(map, str.split))


TOKENIZERS: dict[str, Callable[[], Tokenizer]] = {
    "ptb": _open_ptb,
    "ptb-java": _open_ptb_java,
    "13a": _open_13a,
    "whitespace": _open_whitespace,
}
"""Functions that open the tokenizers, by name."""


def open_tokenizer(spec: str | Tokenizer | Callable[[str], Sequence[str]]) -> Tokenizer:
    """Open a tokenizer by its name, or from a function or a tokenizer.

    Parameters
    ----------
    spec : {"ptb", "ptb-java", "13a", "whitespace"}, callable or Tokenizer
        "ptb" tokenizes as COCO's caption evaluation, without Java. "ptb-java" is its
        Java program. "13a" tokenizes as sacreBLEU. "whitespace" is ``str.split``. A
        callable takes one caption and returns its tokens.

    Returns
    -------
    Tokenizer

    Raises
    ------
    InputError
        If no tokenizer has the name, or the argument is none of these.
    MissingDependencyError
        If the name is "ptb-java" and pycocoevalcap is not installed.

    Examples
    --------
    >>> open_tokenizer("ptb").tokens(["Two dogs aren't alone."])
    [['two', 'dogs', 'are', "n't", 'alone']]
    >>> open_tokenizer(str.split).name
    'str.split@unversioned-4dc5385fd01a'
    """
    if isinstance(spec, str):
        return _open_by_name(spec)
    choice: object = spec
    if isinstance(choice, type) and hasattr(choice, "tokens"):
        choice = choice()
    if isinstance(choice, Tokenizer):
        if type(choice).__module__.startswith("semmetrics."):
            return choice
        return _with_version(choice.name, choice, choice.tokens)
    if callable(choice):
        return _with_version(
            qualified_name(choice), choice, partial(_apply_to_each, choice)
        )
    wanted = f"a tokenizer: a function, or one of {', '.join(TOKENIZERS)}"
    raise InputError("wrong-type", value=choice, wanted=wanted)


def _open_by_name(name: str) -> Tokenizer:
    if name not in TOKENIZERS:
        otherwise = f"choose one of {', '.join(TOKENIZERS)}"
        remedy = did_you_mean(name, TOKENIZERS, otherwise)
        raise InputError("unknown-name", what="tokenizer", value=name, remedy=remedy)
    open_named = TOKENIZERS[name]
    return open_named()


# ---- tokens as integers --------------------------------------------------------------


def encode_tokens(
    token_lists: Sequence[Sequence[str]],
) -> tuple[Ints, Codes, list[str]]:
    """Replace tokens by integer codes, in order of first occurrence.

    Parameters
    ----------
    token_lists : sequence of sequence of str

    Returns
    -------
    indptr : array, shape (captions + 1,), int64
        The codes of caption ``i`` are ``codes[indptr[i]:indptr[i + 1]]``.
    codes : array, shape (tokens,), int32
        Indices into the vocabulary.
    vocabulary : list of str
        The distinct tokens in order of first occurrence.

    Examples
    --------
    >>> indptr, codes, vocabulary = encode_tokens([["a", "dog"], [], ["dog", "a", "cat"]])
    >>> indptr.tolist(), codes.tolist(), vocabulary
    ([0, 2, 2, 5], [0, 1, 1, 0, 2], ['a', 'dog', 'cat'])
    """
    sizes = np.fromiter(map(len, token_lists), np.int64, len(token_lists))
    indptr = offsets(sizes)
    n_tokens = int(indptr[-1])
    vocabulary, codes = code_values(chain.from_iterable(token_lists), n_tokens)
    return indptr, codes, vocabulary
