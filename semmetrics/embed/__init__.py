"""Labels and sentences to vectors: one interface, many models behind it."""
