"""All evaluations over the same folders: `make evals`, or `python -m evals.run [--all] FOLDER…`.

``--all`` (which `make evals` says) adds those of the model engine against the scripted server, some ten minutes.
"""

from __future__ import annotations

import sys

from evals import answers, parsing
from evals.agent.__main__ import main as agent
from evals.diagnosis import real_logs, score
from evals.faithfulness.__main__ import main as faithfulness
from evals.questions.__main__ import main as questions
from evals.retrieval.__main__ import main as retrieval
from evals.training.__main__ import main as training


def main() -> int:
    """Runs each; 1 if any fails."""
    everything = "--all" in sys.argv[1:]
    folders = [argument for argument in sys.argv[1:] if argument != "--all"]
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
    status = max(status, retrieval(["--held"]))
    print("\nquestions held out")
    status = max(status, questions(["--held"]))
    print("\nthe check of somebody's text: held out")
    status = max(status, faithfulness(["--held"]))
    if everything:
        print("\nthe model engine: faults, lies, injections, budget")
        status = max(status, agent([]))
    return status


if __name__ == "__main__":
    sys.exit(main())
