"""Puts true and false sentences about runs to the check of finished texts and counts what it says.

python -m evals.faithfulness                 the open half
python -m evals.faithfulness --misses        and what it got wrong, case by case
python -m evals.faithfulness --half held     the held half, figures alone (also --held)
python -m evals.faithfulness --half fresh    a later set, by another author
python -m evals.faithfulness --half second --logs FOLDER   sentences about real logs, which are not in the repository
python -m evals.faithfulness --half third --logs FOLDER    more of them by another hand
python -m evals.faithfulness --half fifth --logs FOLDER    and of made runs, by one more hand
python -m evals.faithfulness --half fourth-a two parts of one more set of templates (fourth-a, fourth-b)
python -m evals.faithfulness --own           the offline engine's own answers, audited (--own 60: some of them)
python -m evals.faithfulness --cases FILE    the open half's cases as JSON lines, nothing checked
python -m evals.faithfulness --write         all tables into docs/faithfulness-results.md
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from assistant.service.facade import Material, Source, service
from evals.faithfulness.cases import Case, cases
from evals.faithfulness.score import Outcome, misses, outcome, tables
from evals.faithfulness.second import FIFTH, THIRD, WRITTEN, log_of, part
from evals.faithfulness.templates import FOURTH, FRESH, HALVES, LATER, held
from evals.questions import logs

PAGE: Final = Path(__file__).parents[2] / "docs" / "faithfulness-results.md"
FOURTHS: Final = (FOURTH, f"{FOURTH}-a", f"{FOURTH}-b")
UNREAD: Final = frozenset({"held"})
BEGIN, END = "<!-- tables:begin -->", "<!-- tables:end -->"
INTRODUCTION: Final = """\
# What the check of a finished text catches

`python -m evals.faithfulness` puts sentences about real and simulated runs to the check that audits a text
(`metric-assistant verify`, `POST /verify`). Each sentence comes from a template in `evals/faithfulness/*.yaml`, by an
author who had not read the check; its numbers are computed from the run's table by code of the evaluation's own. Each
true sentence has versions with one falsehood, which is false of the run beyond rounding, whatever its words may mean.
Halves are split by template: of the held half only the tables below are ever shown.

## Definitions

- **Caught**: a sentence of the text is `contradicted` or `unsupported`, so that it would not be shown.
- **Contradicted**: the check names a fact of the log that says otherwise.
- **Refused**: a true sentence, or one that claims nothing of the log, of which any part is `contradicted` or
  `unsupported`.
- **Supported**: nothing refused and at least one claim tied to a fact. The rest was not recognised as a claim.
- Falsehoods: value (a digit beyond rounding), decimal (point moved), step (another step's number), metric (another
  metric's number), sign, unit (s for min, 0.05% for 5%, MB for GB), direction (rose for fell), swapped (from and to),
  missing (a value for a cell that the log does not hold), derived (GPUs, batch, group), ratio (also percent), share,
  sum, extreme (its step), count, trend, run (two runs exchanged), hallucinated (a metric that the log does not hold),
  precision (digits that the log does not bear out).

The fresh half came later, by another hand that knew neither the check nor the first templates. At first sight the
check caught 92.4% of its falsehoods (1172 of 1268), and refused 29.4% of its true sentences (169 of 575) and 13.3% of
those without a claim (8 of 60); its misses were open from then on.

The second half is of a third hand, which knew no code either: 450 true sentences about seventeen real logs of public
runs, in the words of reports (long sentences, several clauses, words for numbers), each with a twin that holds one
falsehood. The logs are no part of the project: `--half second --logs FOLDER`. At first sight the check caught 93.1% of
the false ones (419 of 450) and refused 41.3% of the true ones (186 of 450). The half is split by the hash that splits
the templates: the misses of one part (`second-a`) were then worked on, of the other (`second-b`) only the tables were
read until 37.1% of its true sentences were refused and 94.3% of the false ones caught; then it was worked on too. At
first sight the first had 92.5% caught and 38.8% refused, the other 93.8% caught and 44.3% refused.

The third half is of a fourth hand: 250 more true sentences about twenty real logs, each with its twin. At first sight
the check caught 90.0% of the false ones (225 of 250) and refused 48.4% of the true ones (121 of 250); its sentences
were read when 90.8% and 36.4% had been reached.

The fourth set is of a fifth hand: 260 templates in words of direction, ways to name steps and forms of tables that the
others do not have. At first sight the check caught 88.0% of the falsehoods of its first part (955 of 1085) and 91.8% of
those of its second (658 of 717), and refused 53.4% and 48.5% of the true sentences; of the second part only the tables
were read until 94.8% of its falsehoods were caught and 42.9% of its true sentences refused; then it was worked on
too.

The fifth set is of a sixth hand, which knew no code either: 120 true sentences about ten real logs and ten made runs,
with 444 versions that hold one falsehood, in many forms of numbers, with words for shares, spans and firsts: `--half
fifth --logs FOLDER`. At first sight the check caught 95.9% of the falsehoods (426 of 444) and refused 47.5% of the true
sentences (57 of 120); its sentences were read when 45.0% were refused, and worked on from then on.

Two readers, who knew no label, judged sentences of the held half against the logs: all 1,206 that claim something, the
doubtful ones twice. Where both were of one mind against the label it was corrected, 17 in all (en 12, zh 5): 6 labelled
true were false, 11 labelled false were true. Ten of them were put right in their templates, seven false versions are no
longer made; no label of the open half changed.

The offline engine's own answers to the open questions are true by construction, as far as that engine is right, so that
none of their sentences may be refused. A sentence that the engine says of the log word by word, in the context in which
it says it, is supported by the facts that it states there; one with a digit changed is not.

## Results

"""


@cache
def material(runs: tuple[tuple[str, str], ...], folder: Path | None = None) -> Material:
    """The logs of a case as the service reads them, each under its name; those of a folder, where one is given."""
    return service().read([Source(name, log_of(run, folder) if folder else logs.text(run)) for name, run in runs])


def check(case: Case, folder: Path | None = None) -> Outcome:
    """One case's outcome; a check that fails is an outcome too."""
    from assistant.service.verifying import verify

    about = material(case.runs, folder)
    try:
        audit = verify(about, text=case.text, language=case.language, resolver=service().resolver)
        answer: dict[str, Any] = audit.to_json()
        return outcome(case, answer)
    except Exception as error:  # a check that fails on a text is a wrong check
        return Outcome(case, (), (), f"{type(error).__name__}: {error}")


def drawn(half: str) -> list[Case]:
    """All cases of a half."""
    if half in WRITTEN:
        return part(half)
    later, _, which = half.partition("-")
    if later in LATER:
        return [case for case in cases(later) if not which or _held_back(case) == (which == "b")]
    return [case for case in cases() if case.half == half]


def _held_back(case: Case) -> bool:
    """Whether a case's template lies in the part that is kept back."""
    return held(case.id.partition("~")[0].rpartition("-")[0])


def outcomes(half: str, prefix: str = "", folder: Path | None = None) -> list[Outcome]:
    """All cases of a half, checked; log by log, so that each is read once."""
    chosen = [case for case in drawn(half) if case.id.startswith(prefix)]
    return [check(case, folder) for case in sorted(chosen, key=lambda case: (case.runs, case.id))]


def write(page: Path = PAGE, folder: Path | None = None) -> None:
    """Writes the tables of the halves, and that of the offline engine's own answers; the second with its logs."""
    from evals.faithfulness.own import own

    parts = [f"### {half.capitalize()} half\n\n{tables(outcomes(half))}" for half in ("open", "held", FRESH)]
    titles = {
        f"{FOURTH}-a": "Fourth set: the part worked on",
        f"{FOURTH}-b": "Fourth set: the part kept back for a while",
    }
    parts += [f"### {title}\n\n{tables(outcomes(half))}" for half, title in titles.items()]
    if folder is not None:
        titles = {
            "second-a": "Second half: the part worked on from the start",
            "second-b": "Second half: the part kept back for a while",
            THIRD: "Third half",
            FIFTH: "Fifth set",
        }
        for half, what in titles.items():
            parts.append(f"### {what}\n\n{tables(outcomes(half, folder=folder))}")
    parts.append(f"### The offline engine's own answers\n\n{own().table()}")
    page.write_text(f"{INTRODUCTION}{BEGIN}\n\n" + "\n\n".join(parts) + f"\n\n{END}\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m evals.faithfulness", description=__doc__.splitlines()[0])
    choices = (*HALVES, FRESH, *FOURTHS, *WRITTEN)
    parser.add_argument("--half", choices=choices, default="open", help="which half (default: open)")
    parser.add_argument("--held", dest="half", action="store_const", const="held", help="the held half: figures alone")
    parser.add_argument("--misses", action="store_true", help="list what the check got wrong; not for the held half")
    parser.add_argument(
        "--only", default="", metavar="PREFIX", help="cases whose id begins so: en, zh-trend, en-trl-01"
    )
    parser.add_argument(
        "--own", type=int, nargs="?", const=0, metavar="N", help="audit the offline answers to the open questions"
    )
    parser.add_argument("--cases", type=Path, metavar="FILE", help="write the half's cases and stop")
    parser.add_argument("--logs", type=Path, metavar="FOLDER", help="holds the logs that the second half speaks of")
    parser.add_argument("--write", action="store_true", help=f"all tables into {PAGE.name}")
    given = parser.parse_args(arguments)
    if given.half in UNREAD and (given.misses or given.cases):
        parser.error("the sentences of this half are never shown: --misses and --cases are for the others")
    own_logs = given.half in WRITTEN
    if own_logs and not given.cases and not (given.logs and given.logs.is_dir()):
        parser.error(
            f"the {given.half} half speaks of logs that are not in the repository: --logs FOLDER names where they are"
        )
    if given.own is not None:
        from evals.faithfulness.own import own

        audited = own(given.own or None)
        print(*([audited.misses(), ""] if given.misses else []), audited.table(), sep="\n")
        return 0
    if given.cases:
        lines = [json.dumps(case.to_json(), ensure_ascii=False) for case in drawn(given.half)]
        given.cases.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return 0
    if given.write:
        write(folder=given.logs)
        return 0
    checked = outcomes(given.half, given.only, given.logs if own_logs else None)
    if given.misses:
        print(misses(checked), end="\n\n")
    print(tables(checked))
    return 0


if __name__ == "__main__":
    sys.exit(main())
