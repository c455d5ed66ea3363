"""Axes turned so that what people say lies nearest to the card they mean.

Latent semantic analysis finds what words stand together; it does not know which words tell one card from the next.
Each card's single wordings do: a softmax over the cards is fitted to them, the terms' rows and the cards' vectors
both moving, from where the analysis put them (a two-tower classifier of bags of words, after Joulin et al. 2017, "Bag
of tricks for efficient text classification", arXiv 1607.01759; steps by Adagrad, Duchi et al. 2011). A pass or two is
enough: more learns the wordings by heart. What is kept is the mean over the steps of the last pass, so that the order
in which the wordings came matters less (Polyak and Juditsky 1992, "Acceleration of stochastic approximation by
averaging").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from assistant.knowledge.embedding import Axes, Vector

EPOCHS: Final = 2
"""How often each wording is seen; judged by wordings that are left out."""

_BATCH: Final = 512
_STEP: Final = 0.02
_CARD_STEP: Final = 0.006
_SCALE: Final = 20.0
"""What a cosine of 1 counts in the softmax."""

_EVENNESS: Final = 1.0
"""How far cards with many wordings are brought to count as much as those with few: 0 not at all, 1 fully."""

_SEED: Final = 0
_TINY: Final = 1e-6


def tune(
    axes: Axes, vectors: Sequence[Vector], wordings: Sequence[Sequence[Mapping[str, float]]]
) -> tuple[Axes, list[Vector]]:
    """Axes and vectors after the wordings were learnt.

    Args:
        axes: terms × size, from latent semantic analysis.
        vectors: one a card, of unit length.
        wordings: for each card the weighted terms of each of its wordings.

    Returns:
        new axes, and the cards' vectors, of unit length. The same as given if there are no wordings.
    """
    import numpy as np

    places, values, bounds, owners = _flat(axes, wordings)
    if len(owners) == 0:
        return axes, list(vectors)
    rows = axes.rows.astype(np.float32)
    cards = np.asarray(vectors, dtype=np.float32)
    seen_rows = np.full(len(rows), 1e-8, dtype=np.float32)
    seen_cards = np.full(len(cards), 1e-8, dtype=np.float32)
    counts = np.bincount(owners, minlength=len(cards))
    shares = ((counts.sum() / np.count_nonzero(counts) / counts[owners]) ** _EVENNESS).astype(np.float32)[:, None]
    order = np.arange(len(owners))
    random = np.random.default_rng(_SEED)
    sums_of_rows, sums_of_cards, steps = np.zeros_like(rows), np.zeros_like(cards), 0
    for epoch in range(EPOCHS):
        random.shuffle(order)
        for begin in range(0, len(order), _BATCH):
            batch = order[begin : begin + _BATCH]
            sizes = bounds[batch + 1] - bounds[batch]
            starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
            which = np.repeat(bounds[batch] - starts, sizes) + np.arange(int(sizes.sum()))
            term, value = places[which], values[which][:, None]
            sums = np.add.reduceat(rows[term] * value, starts, axis=0)
            norms = np.linalg.norm(sums, axis=1, keepdims=True) + _TINY
            units = sums / norms
            error = _softmax(_SCALE * (units @ cards.T))
            error[np.arange(len(batch)), owners[batch]] -= 1.0
            error *= shares[batch]
            pull = _SCALE * (error @ cards)
            pull = (pull - units * (pull * units).sum(axis=1, keepdims=True)) / norms
            card_pull = _SCALE * (error.T @ units)
            by_term = np.argsort(term, kind="stable")
            moved, first = np.unique(term[by_term], return_index=True)
            row_pull = np.add.reduceat((np.repeat(pull, sizes, axis=0) * value)[by_term], first, axis=0)
            seen_rows[moved] += (row_pull**2).mean(axis=1)
            rows[moved] -= _STEP * row_pull / np.sqrt(seen_rows[moved])[:, None]
            seen_cards += (card_pull**2).mean(axis=1)
            cards -= _CARD_STEP * card_pull / np.sqrt(seen_cards)[:, None]
            if epoch == EPOCHS - 1:
                sums_of_rows += rows
                sums_of_cards += cards
                steps += 1
    rows = (sums_of_rows / steps).astype(np.float32)
    cards = (sums_of_cards / steps).astype(np.float32)
    lengths = np.linalg.norm(cards, axis=1, keepdims=True)
    units_of_cards: list[Vector] = (cards / np.where(lengths > 0, lengths, 1.0)).tolist()
    return replace(axes, rows=rows.astype(np.float16)), units_of_cards


def _softmax(logits: Any) -> Any:
    """Likelihoods along the rows, in place."""
    import numpy as np

    logits -= logits.max(axis=1, keepdims=True)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=1, keepdims=True)
    return logits


def _flat(axes: Axes, wordings: Sequence[Sequence[Mapping[str, float]]]) -> tuple[Any, Any, Any, Any]:
    """Places of terms, their weights, where each wording begins and ends among them, and whose wording it is."""
    import numpy as np

    places: list[int] = []
    values: list[float] = []
    bounds = [0]
    owners: list[int] = []
    for owner, lines in enumerate(wordings):
        for line in lines:
            held = [(axes.terms[term], weight) for term, weight in line.items() if term in axes.terms]
            if held:
                places += [place for place, _ in held]
                values += [weight for _, weight in held]
                bounds.append(len(places))
                owners.append(owner)
    return np.array(places), np.array(values, dtype=np.float32), np.array(bounds), np.array(owners)
