"""``python -m derive``."""

from derive.cli import main

if __name__ == "__main__":  # a process of a pool imports this file, too
    main(prog_name="derive")
