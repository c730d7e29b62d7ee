"""Label sets against label sets."""
