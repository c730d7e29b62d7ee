"""Captions to tokens, and tokens to integers."""

from semmetrics.text.codes import encode_tokens
from semmetrics.text.tokenize import Tokenizer, open_tokenizer

__all__ = ["Tokenizer", "encode_tokens", "open_tokenizer"]
