"""Captions to tokens, and tokens to integers."""

from semmetrics.text.tokenizers import Tokenizer, open_tokenizer
from semmetrics.text.tokens import encode_tokens

__all__ = ["Tokenizer", "encode_tokens", "open_tokenizer"]
