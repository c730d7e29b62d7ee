"""What is evaluated: one folder a kind, and nowhere else is a kind asked for."""
