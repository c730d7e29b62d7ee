"""Several runs of a system, and several systems over data sets."""
