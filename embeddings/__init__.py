"""How the embeddings of the package are made and measured; not part of the package."""
