"""Numerical kernels: ragged rows, exact sums, similarities, ranks, assignment and transport."""
