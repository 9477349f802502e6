"""`python -m dbagenteval` is the command line."""

import sys

from dbagenteval.cli import main

if __name__ == "__main__":
    sys.exit(main())
