"""All evaluations over the same folders: `make evals`, or `python -m evals.run FOLDER…`."""

from __future__ import annotations

import sys

from evals import answers, parsing
from evals.diagnosis import real_logs, score
from evals.retrieval.__main__ import main as retrieval
from evals.training.__main__ import main as training


def main() -> int:
    """Runs each; 1 if any fails."""
    folders = sys.argv[1:]
    print("parsing: cells against an independent reading")
    status = parsing.main(folders)
    print("\nanswers: traced numbers, schema, time")
    status = max(status, answers.main(folders))
    print("\ndiagnosis: real logs")
    status = max(status, real_logs.main(folders))
    print("\ndiagnosis: simulated runs held out")
    status = max(status, score.main(["--held"]))
    print("\ndiagnosis: runs trained on a CPU")
    status = max(status, training(["score"]))
    print("\nretrieval: questions held out")
    return max(status, retrieval(["--held"]))


if __name__ == "__main__":
    sys.exit(main())
