"""`python -m aucrank`: the command line without an installed script."""

import sys

from aucrank.cli import main

sys.exit(main())
