"""Tokens of captions, METEOR's matches, and scene graphs."""

from semmetrics.text.tokenizers import Tokenizer, encode_tokens, open_tokenizer

__all__ = ["Tokenizer", "encode_tokens", "open_tokenizer"]
