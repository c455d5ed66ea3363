"""Every question of a list put to every log of a folder: `python -m evals.answers [FOLDER…]`.

It asks whether an answer comes at all, whether each of its numbers is traced, whether it obeys the shipped schema, and
how long it takes; not whether it is wise. Exit status 1 on any failure.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from itertools import islice
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from assistant.model import InputError
from assistant.service import Source, service

ROOT = Path(__file__).resolve().parent.parent
QUESTIONS = [
    "", "解读一下这个日志", "逐条解读最后一步", "跟第一步相比，模型有改进吗？", "正常吗", "用了多少张卡，batch 多大？",
    "时间都花在哪了", "entropy 的趋势", "ppo_kl 怎么理解", "最后一步的奖励是多少", "验证准确率是多少",
    "学习率要不要调大",
    "loss 最小是多少，在哪一步", "回答长度怎么变化", "Explain everything", "What is wrong with this run?",
    "Did the last step improve on the first?", "What is the learning rate at the last step?", "Is the reward going up?",
    "how many responses per prompt?", "Where does the time go?", "What does grad_norm mean?", "最近 5 步的 reward",
    "What about step 3?", "When will the accuracy reach 0.5?", "tell me a joke",
]  # fmt: skip


def main(argv: list[str] | None = None) -> int:
    """Prints the table; 1 if an answer failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="*", default=[str(ROOT / "examples")])
    folders = parser.parse_args(argv).folder
    schema = json.loads((ROOT / "assistant" / "schemas" / "answer.schema.json").read_text(encoding="utf-8"))
    validator = Draft202012Validator(schema)
    engine, failures, times = service(), list[str](), list[float]()
    print(f"{'file':<52}{'answers':>8}{'numbers':>9}{'traced':>8}{'median ms':>11}{'slowest':>9}")
    for path in sorted(p for folder in folders for p in Path(folder).iterdir() if p.is_file()):
        try:
            material = engine.read([Source(path.name, path.read_bytes())])
        except InputError:
            continue
        if not material.runs:
            continue
        numbers = traced = 0
        took: list[float] = []
        seen: set[str] = set()
        for question in QUESTIONS:
            for language in ("zh", "en"):
                started = time.perf_counter()
                answer = _ask(engine, material, question=question, language=language, failures=failures)
                took.append((time.perf_counter() - started) * 1000)
                if answer is None:
                    continue
                numbers += answer["grounding"]["numbers"]
                traced += answer["grounding"]["supported"]
                for error in islice(validator.iter_errors(_unseen(answer, seen)), 1):
                    failures.append(f"{path.name}: {question!r}: schema: {error.message[:120]}")
        times.extend(took)
        median, slowest = statistics.median(took), max(took)
        print(f"{path.name[:51]:<52}{len(took):>8}{numbers:>9}{traced:>8}{median:>11.1f}{slowest:>9.1f}")
        if traced != numbers:
            failures.append(f"{path.name}: {numbers - traced} numbers were not traced")
    if times:
        print(f"all: {len(times)} answers, median {statistics.median(times):.1f} ms, slowest {max(times):.1f} ms")
    for failure in failures[:30]:
        print(failure)
    return 1 if failures else 0


def _unseen(answer: dict[str, Any], seen: set[str]) -> dict[str, Any]:
    """The answer with those items of its lists that no answer on this log had before: each is validated once.

    Args:
        answer: as JSON; the schema says of its lists what each item has to be, and no more.
        seen: what was validated before; gets the rest.
    """
    left = dict(answer)
    for name, held in answer.items():
        if isinstance(held, list):
            shown = {f"{name} {json.dumps(item, sort_keys=True, default=str)}": item for item in held}
            left[name] = [item for key, item in shown.items() if key not in seen]
            seen.update(shown)
    return left


def _ask(engine: Any, material: Any, *, question: str, language: str, failures: list[str]) -> dict[str, Any] | None:
    try:
        answer: dict[str, Any] = engine.explain(material, question, language=language).answer.to_json()
    except Exception as error:  # an evaluation counts faults, whatever they are
        failures.append(f"{question!r} ({language}): {type(error).__name__}: {error}")
        return None
    return answer


if __name__ == "__main__":
    sys.exit(main())
