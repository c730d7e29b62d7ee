"""Label lists against label lists."""
