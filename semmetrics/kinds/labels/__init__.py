"""Label sets: what stands in an image, in words of a vocabulary."""
