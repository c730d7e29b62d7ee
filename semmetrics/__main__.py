"""``python -m semmetrics`` is the program ``semmetrics``."""

from semmetrics.cli import main

if __name__ == "__main__":
    main()
