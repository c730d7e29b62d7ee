"""Captions to tokens, and tokens to integers."""

from semmetrics.text.tokenizers import Tokenizer, encode_tokens, open_tokenizer

__all__ = ["Tokenizer", "encode_tokens", "open_tokenizer"]
