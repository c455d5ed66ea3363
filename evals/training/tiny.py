"""A tiny language model, its tokenizer and its tasks; nothing is downloaded.

The model starts from random weights, or from some seconds of plain next-token training on noisy solutions of the
tasks (``warm``), so that it ends its answers by itself and is right now and then, as a model is before RL.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

WORDS: Final = (
    *("<pad>", "<bos>", "<eos>"),
    *"0123456789",
    *"abcdefghijklmnop",
    *("copy", "sort", "sum", "parity", "count", "write", "=", "even", "odd"),
)
"""The vocabulary; a text is these words with blanks between."""
_WARM_STEPS: Final = 400
_WARM_BATCH: Final = 48
_LONGEST: Final = 24

Task = Callable[[random.Random], tuple[str, str]]


def _digits(dice: random.Random, least: int = 2, most: int = 4) -> list[int]:
    return [dice.randrange(10) for _ in range(dice.randint(least, most))]


def _show(digits: list[int]) -> str:
    return " ".join(map(str, digits))


def _copy(dice: random.Random) -> tuple[str, str]:
    digits = _digits(dice)
    return f"copy {_show(digits)} =", _show(digits)


def _sort(dice: random.Random) -> tuple[str, str]:
    digits = _digits(dice)
    return f"sort {_show(digits)} =", _show(sorted(digits))


def _sum(dice: random.Random) -> tuple[str, str]:
    digits = _digits(dice, 2, 3)
    return f"sum {_show(digits)} =", str(sum(digits) % 10)


def _parity(dice: random.Random) -> tuple[str, str]:
    digits = _digits(dice)
    return f"parity {_show(digits)} =", "odd" if sum(digits) % 2 else "even"


def _count(dice: random.Random) -> tuple[str, str]:
    number = dice.randint(1, 9)
    return f"count {number} =", " ".join("a" * number)


def _write(dice: random.Random) -> tuple[str, str]:
    letters = [dice.choice("abcdefghijklmnop") for _ in range(dice.randint(4, 14))]
    return f"write {letters[0]} =", " ".join(letters)


TASKS: Final[dict[str, Task]] = {
    "copy": _copy,
    "sort": _sort,
    "sum": _sum,
    "parity": _parity,
    "count": _count,
    "write": _write,
}


def examples(task: str, number: int, seed: int) -> list[dict[str, str]]:
    """Prompts with the right answer: ``{"prompt", "answer"}``; ``mixed`` takes all tasks in turn."""
    dice = random.Random(seed)
    names = list(TASKS) if task == "mixed" else [task]
    pairs = [TASKS[names[index % len(names)]](dice) for index in range(number)]
    return [{"prompt": prompt, "answer": answer} for prompt, answer in pairs]


def spoil(answer: str, dice: random.Random) -> str:
    """A wrong answer that looks like one: words replaced, dropped or added."""
    words = answer.split()
    kind = dice.randrange(3)
    if kind == 0 or len(words) < 2:
        place = dice.randrange(len(words))
        words[place] = dice.choice([word for word in WORDS[3:29] if word != words[place]])
    elif kind == 1:
        del words[dice.randrange(len(words))]
    else:
        words.insert(dice.randrange(len(words) + 1), dice.choice(WORDS[3:29]))
    return " ".join(words)


def tokenizer() -> Any:
    """A fast tokenizer over :data:`WORDS`."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    plain = Tokenizer(models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="<pad>"))
    plain.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(
        tokenizer_object=plain,
        pad_token="<pad>",
        bos_token="<bos>",
        eos_token="<eos>",
        padding_side="left",
        model_max_length=64,
        model_input_names=["input_ids", "attention_mask"],
    )


def model(hidden: int = 48, layers: int = 2, seed: int = 0) -> Any:
    """A causal model with random weights, about 50,000 of them."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(WORDS),
            hidden_size=hidden,
            intermediate_size=2 * hidden,
            num_hidden_layers=layers,
            num_attention_heads=4,
            num_key_value_heads=4,
            max_position_embeddings=64,
            pad_token_id=0,
            bos_token_id=1,
            eos_token_id=2,
            tie_word_embeddings=False,
        )
    )


def warm(folder: Path, right: float = 0.5, seed: int = 0) -> Path:
    """The folder of a model that answers ``right`` of its prompts rightly, roughly; trained once, then kept.

    Args:
        folder: where warm models are kept.
        right: share of right answers among those it learns from.
        seed: of weights and data.
    """
    import torch

    place = folder / f"warm-{int(100 * right)}-{seed}"
    if (place / "config.json").exists():
        return place
    words, dice = {word: number for number, word in enumerate(WORDS)}, random.Random(seed)
    learner = model(seed=seed)
    optimizer = torch.optim.AdamW(learner.parameters(), lr=3e-3)
    learner.train()
    for pairs in (examples("mixed", _WARM_BATCH, seed + step) for step in range(_WARM_STEPS)):
        rows, targets = [], []
        for pair in pairs:
            answer = pair["answer"] if dice.random() < right else spoil(pair["answer"], dice)
            prompt = [words[word] for word in pair["prompt"].split()]
            reply = [*(words[word] for word in answer.split()), words["<eos>"]]
            filling = _LONGEST - len(prompt) - len(reply)
            rows.append(prompt + reply + [0] * filling)
            targets.append([-100] * len(prompt) + reply + [-100] * filling)
        loss = learner(
            input_ids=torch.tensor(rows),
            attention_mask=(torch.tensor(rows) != 0).long(),
            labels=torch.tensor(targets),
        ).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    learner.save_pretrained(place)
    return place
