"""Measures by name, protocols, the block loop, values, intervals and signatures."""
