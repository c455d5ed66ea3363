"""All evaluations over the same folders: `make evals`, or `python -m evals.run FOLDER…`."""

from __future__ import annotations

import sys

from evals import answers, parsing
from evals.diagnosis import real_logs
from evals.retrieval.__main__ import main as retrieval


def main() -> int:
    """Runs each; 1 if any fails."""
    folders = sys.argv[1:]
    print("parsing: cells against an independent reading")
    status = parsing.main(folders)
    print("\nanswers: traced numbers, schema, time")
    status = max(status, answers.main(folders))
    print("\ndiagnosis: real logs")
    status = max(status, real_logs.main(folders))
    print("\nretrieval: questions held out")
    return max(status, retrieval(["--held"]))


if __name__ == "__main__":
    sys.exit(main())
