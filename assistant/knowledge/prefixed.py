"""Keys as a dashboard shows them: ``train/kl`` and ``eval/loss`` of a trainer that logs ``kl`` and ``eval_loss``.

Hugging Face's Trainer puts ``train/`` before what it sends to wandb and TensorBoard, and writes ``eval/`` for ``eval_``
(``rewrite_logs`` in transformers, integrations/integration_utils.py); so do the trainers that are made of it.
"""

from __future__ import annotations

from typing import Final

from assistant.knowledge.cards import Card
from assistant.knowledge.questions import narrow
from assistant.knowledge.resolver import EXPLAINED_AS, Resolver, _ordered
from assistant.knowledge.terms import fold
from assistant.knowledge.typos import keys_in

_MADE_OF_IT: Final = ("TRL", "ms-swift", "LLaMA-Factory")
_FORMS: Final = {"train": ("",), "eval": ("eval_", "")}


def shown_as(question: str, framework: str | None, resolver: Resolver) -> list[Card]:
    """Cards of the one key that a question spells, if that is how a dashboard shows theirs (:func:`behind_prefix`)."""
    keys = keys_in(fold(narrow(question)))
    return behind_prefix(keys[0], framework, resolver) if len(keys) == 1 else []


def behind_prefix(key: str, framework: str | None, resolver: Resolver) -> list[Card]:
    """Cards of a folded key that begins so, the likeliest first; empty if some card of the framework has the key.

    Args:
        key: as the dashboard shows it.
        framework: whose metrics are meant; ``None`` for those of all trainers that are shown so.
        resolver: from keys to cards.
    """
    first, _, rest = key.partition("/")
    if first not in _FORMS or not rest:
        return []
    asked = None if framework is None else EXPLAINED_AS.get(framework, framework)
    known = resolver.key(key, asked)
    if asked not in {None, *_MADE_OF_IT} or (known is not None and asked in {None, known.card.framework}):
        return []
    for begin in _FORMS[first]:
        found = [resolver.key(begin + rest, home) for home in _MADE_OF_IT if asked in {None, home}]
        own = [one.card for one in found if one is not None and one.card.framework in _MADE_OF_IT and not one.foreign]
        if own:
            return _ordered(list(dict.fromkeys(own)), framework)
    return []
