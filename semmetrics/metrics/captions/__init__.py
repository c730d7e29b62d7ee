"""Captions against reference captions."""
