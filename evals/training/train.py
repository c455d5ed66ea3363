"""One training run: its console text, and beside it what the trainer logged, at full precision.

Written for run ``07-name`` into the folder: ``07-name.log`` (standard output and error as they come),
``07-name.history.jsonl`` (the trainer's own records, one a log event, never rounded), and what the trainer saves of
itself: ``07-name.trainer_state.json`` or ``07-name.progress.csv``.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from evals.training import faults, tiny
from evals.training.rewards import LONGEST, REWARDS, broken
from evals.training.runs import Fault, Spec

REWARD_FAULTS = ("constant", "nan", "none", "scale", "sleep", "stall")


def prepare() -> None:
    """Imports what every run needs and keeps it to one thread; before :func:`run_all` forks."""
    os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
    import torch

    torch.set_num_threads(1)
    import stable_baselines3  # noqa: F401
    import transformers.models.llama.modeling_llama  # noqa: F401
    from trl import DPOTrainer, GRPOTrainer, SFTTrainer  # noqa: F401


def run_all(specs: list[Spec], folder: Path) -> list[str]:
    """Trains one after the other, each in a process of its own; names those that ended with an error of ours."""
    folder.mkdir(parents=True, exist_ok=True)
    prepare()
    for right in sorted({spec.warm for spec in specs if spec.warm is not None}):
        tiny.warm(folder / "models", right)
    failed = []
    for spec in specs:
        shutil.rmtree(folder / "work" / spec.name, ignore_errors=True)
        for old in folder.glob(f"{spec.name}.*"):
            old.unlink()
        began, used = time.monotonic(), os.times()
        status = _fork(spec, folder, resume=False)
        if spec.resumes:
            status = _fork(spec, folder, resume=True)
        spent, now = time.monotonic() - began, os.times()
        cpu = now.children_user + now.children_system - used.children_user - used.children_system
        print(f"{spec.name}: {spent:.0f} s, {cpu:.0f} s of CPU, status {status}", flush=True)
        if status and not spec.ends:
            failed.append(spec.name)
    return failed


def _fork(spec: Spec, folder: Path, *, resume: bool) -> int:
    sys.stdout.flush()
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    status = 1
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job would ignore it
    try:
        log = os.open(folder / f"{spec.name}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(log, 1)
        os.dup2(log, 2)
        # A program whose output goes to a file keeps it back in blocks, unless started with `python -u`.
        sys.stdout = os.fdopen(1, "w", buffering=-1 if spec.buffered else 1, encoding="utf-8", closefd=False)
        sys.stderr = os.fdopen(2, "w", buffering=1, encoding="utf-8", closefd=False)
        train(spec, folder, resume=resume)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def train(spec: Spec, folder: Path, *, resume: bool = False) -> None:
    """Trains as the specification says; prints what the trainer prints."""
    work = folder / "work" / spec.name
    work.mkdir(parents=True, exist_ok=True)
    if spec.trainer == "SB3":
        from evals.training.games import play

        play(spec, folder, work)
        return
    from transformers import TrainerCallback

    class Recorder(TrainerCallback):
        def on_log(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
            with (folder / f"{spec.name}.history.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps(state.log_history[-1]) + "\n")

    trainer = _trainer(spec, folder, work, resume)
    harm = [fault for fault in spec.faults if fault.kind not in (*REWARD_FAULTS, "shift", "learning_rate")]
    trainer.add_callback(Recorder())
    for fault in [] if resume else harm:
        trainer.add_callback(faults.Spoil(fault.kind, fault.at, fault.size))
    trainer.train(resume_from_checkpoint=True if resume else None)
    trainer.save_state()
    shutil.copyfile(work / "trainer_state.json", folder / f"{spec.name}.trainer_state.json")


def _trainer(spec: Spec, folder: Path, work: Path, resume: bool) -> Any:
    from transformers import AutoModelForCausalLM

    learner: Any
    if spec.warm is None:
        learner = tiny.model(seed=spec.seed)
    else:
        learner = AutoModelForCausalLM.from_pretrained(tiny.warm(folder / "models", spec.warm))
    settings: dict[str, Any] = {
        "output_dir": str(work),
        "max_steps": spec.steps,
        "logging_steps": 1,
        "seed": spec.seed,
        "report_to": [],
        "save_strategy": "no",
        "use_cpu": True,
        "bf16": False,
        "gradient_checkpointing": False,
        "dataloader_pin_memory": False,
        **spec.settings,
    }
    if resume:
        settings.update({fault.kind: fault.size for fault in spec.faults if fault.kind == "learning_rate"})
    make = {"GRPO": _grpo, "DPO": _dpo, "SFT": _sft}[spec.trainer]
    return make(spec, learner, settings)


def _grpo(spec: Spec, learner: Any, settings: dict[str, Any]) -> Any:
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    rewards = [REWARDS[name] for name in spec.rewards]
    shifts: list[Fault] = []
    for fault in spec.faults:
        if fault.kind in REWARD_FAULTS:
            rewards[-1] = broken(rewards[-1], fault.kind, fault.at, fault.size)
        elif fault.kind == "shift":
            shifts.append(fault)
    kind: Any = faults.shifted(GRPOTrainer, shifts[0].size, shifts[0].at) if shifts else GRPOTrainer
    return kind(
        model=learner,
        reward_funcs=rewards,
        args=GRPOConfig(**{"max_completion_length": LONGEST, "per_device_train_batch_size": 64, **settings}),
        train_dataset=Dataset.from_list(tiny.examples(spec.task, 512, spec.seed)),
        eval_dataset=Dataset.from_list(tiny.examples(spec.task, 32, spec.seed + 1)) if spec.evaluates else None,
        processing_class=tiny.tokenizer(),
    )


def _dpo(spec: Spec, learner: Any, settings: dict[str, Any]) -> Any:
    import random

    from datasets import Dataset
    from trl import DPOConfig, DPOTrainer

    dice = random.Random(spec.seed)

    def pairs(number: int, seed: int) -> Any:
        rows = []
        for pair in tiny.examples(spec.task, number, seed):
            chosen, rejected = pair["answer"], tiny.spoil(pair["answer"], dice)
            if spec.noise and dice.random() < spec.noise:
                chosen, rejected = rejected, chosen
            rows.append({"prompt": pair["prompt"], "chosen": " " + chosen, "rejected": " " + rejected})
        return Dataset.from_list(rows)

    return DPOTrainer(
        model=learner,
        args=DPOConfig(**{"per_device_train_batch_size": 32, "max_length": 48, **settings}),
        train_dataset=pairs(512, spec.seed),
        eval_dataset=pairs(64, spec.seed + 1) if spec.evaluates else None,
        processing_class=tiny.tokenizer(),
    )


def _sft(spec: Spec, learner: Any, settings: dict[str, Any]) -> Any:
    from datasets import Dataset
    from trl import SFTConfig, SFTTrainer

    def solutions(number: int, seed: int) -> Any:
        rows = tiny.examples(spec.task, number, seed)
        return Dataset.from_list([{"prompt": row["prompt"], "completion": " " + row["answer"]} for row in rows])

    return SFTTrainer(
        model=learner,
        args=SFTConfig(**{"per_device_train_batch_size": 32, "max_length": 48, **settings}),
        train_dataset=solutions(spec.examples, spec.seed),
        eval_dataset=solutions(64, spec.seed + 1) if spec.evaluates else None,
        processing_class=tiny.tokenizer(),
    )
