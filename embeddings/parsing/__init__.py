"""How the offline parser of the package is made and measured; not part of the package."""
