"""Captions: sentences about an image, beside reference sentences."""
