"""Data of any size, scored block by block."""
