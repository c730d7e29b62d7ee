"""The functions that do in one call what the command line does."""
