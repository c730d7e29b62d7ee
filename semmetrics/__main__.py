"""Run the command line with ``python -m semmetrics``."""

from semmetrics.cli import main

if __name__ == "__main__":
    main()
