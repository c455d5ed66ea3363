"""`python -m evals.parsing`."""

import sys

from evals.parsing.main import main

sys.exit(main())
