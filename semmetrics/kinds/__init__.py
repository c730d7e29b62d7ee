"""What is evaluated: one folder a kind."""
