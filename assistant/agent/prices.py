"""What an answer costs: tokens times the prices of a table that users can edit (``knowledge/prices.yaml``)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from assistant import resources
from assistant.model import KnowledgeError

MILLION = 1_000_000
_FIELDS = {"prompt", "completion"}


def read_prices(path: Path) -> dict[str, tuple[float, float]]:
    """Model name → US dollars for a million prompt and completion tokens.

    Raises:
        KnowledgeError: the file is none such; names file and model.
    """
    import yaml

    try:
        table = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise KnowledgeError(
            zh=f"价格表 {path} 读不了：{error}", en=f"cannot read the prices {path}: {error}"
        ) from None
    models = table.get("models") if isinstance(table, Mapping) else None
    if not isinstance(models, Mapping):
        raise KnowledgeError(zh=f"{path}：缺少 models。", en=f"{path}: models is missing.")
    found = {}
    for name, entry in models.items():
        sound = isinstance(entry, Mapping) and set(entry) == _FIELDS
        if not sound or not all(isinstance(v, (int, float)) and v >= 0 for v in entry.values()):
            where = f"{path}: models/{name}"
            raise KnowledgeError(
                zh=f"{where}：应恰有 prompt 与 completion 两个非负数。",
                en=f"{where}: needs prompt and completion, two numbers not below zero.",
            )
        found[str(name)] = (float(entry["prompt"]), float(entry["completion"]))
    return found


@lru_cache(maxsize=4)
def _table(own: str, changed: int) -> dict[str, tuple[float, float]]:
    del changed
    shipped = read_prices(resources.data_folder("knowledge") / "prices.yaml")
    return {**shipped, **read_prices(Path(own))} if own else shipped


def cost(model: str, prompt: int, completion: int, own: str = "") -> float | None:
    """US dollars of an answer; ``None`` where the table does not know the model.

    Args:
        model: its name, a provider's prefix (``openai/``) and a date at its end allowed.
        prompt: tokens sent.
        completion: tokens received.
        own: a table that comes before the shipped one.

    Raises:
        KnowledgeError: that table cannot be read.
    """
    changed = Path(own).stat().st_mtime_ns if own and Path(own).exists() else 0
    table = _table(own, changed)
    name = model if model in table else model.rpartition("/")[2]
    fits = [known for known in table if name == known or name.startswith((f"{known}-2", f"{known}:"))]
    if not fits:
        return None
    per_prompt, per_completion = table[max(fits, key=len)]
    return round((prompt * per_prompt + completion * per_completion) / MILLION, 8)
