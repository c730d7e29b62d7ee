"""Classes: images that have one class each, beside labels or scores that a classifier gives."""
