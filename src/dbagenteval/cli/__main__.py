"""`python -m dbagenteval.cli` is the command line too, as in the published package."""

import sys

from dbagenteval.cli import main

if __name__ == "__main__":
    sys.exit(main())
