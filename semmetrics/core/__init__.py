"""Numerical ground: ragged rows, exact sums, additive columns; knows nothing of metrics."""
