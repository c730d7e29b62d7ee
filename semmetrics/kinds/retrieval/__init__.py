"""Retrieval: queries that rank a gallery, beside the positives of each."""
