"""Tables of scores and their forms."""
