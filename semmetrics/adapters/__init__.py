"""The library's measures in the call shapes of other packages."""
