"""DeepSpeed-Chat, steps 1 and 2: the evaluation behind each epoch, and the epoch's loss.

``***** Evaluating reward, Epoch 1/3 *****`` names the epoch of the line that follows it, ``chosen_last_scores (higher
is better) : -6.8, acc (higher is better) : 0.61`` or ``ppl: 2.1``; ``Epoch 1/3 with loss 0.67`` stands before it.
"""

from __future__ import annotations

import re
from typing import Final

from assistant.parsing.logprefix import read_body
from assistant.parsing.numbers import NUMBER, read_number
from assistant.parsing.repair import Document
from assistant.parsing.stepbook import Book, Cell
from assistant.parsing.table import Reading

_HEAD: Final = re.compile(r"\*{3,9} Evaluating (?:reward|perplexity), Epoch (?P<epoch>[0-9]{1,6})/[0-9]{1,6} \*{3,9}")
_LOSS: Final = re.compile(rf"Epoch (?P<epoch>[0-9]{{1,6}})/[0-9]{{1,6}} with loss (?P<number>{NUMBER})\s*$")
_VALUE: Final = re.compile(
    rf"(?P<key>chosen_last_scores|rejected_last_scores|acc|ppl|loss)(?: \((?:higher|lower) is better\) )?: "
    rf"(?P<number>{NUMBER})(?=,|\s|$)"
)
_LONGEST: Final = 400


class DeepSpeedChatEvaluations:
    """Reads one row an epoch; what is measured on held-out data begins with ``eval/``."""

    name: Final = "deepspeed-chat-eval"
    strength: Final = 91

    def read(self, document: Document) -> Reading:
        """At most one run."""
        book, epoch = Book(), None
        for raw, number in zip(document.lines, document.numbers, strict=False):
            if len(raw) > _LONGEST:
                continue
            line = read_body(raw)[1]
            head, loss = _HEAD.match(line), _LOSS.match(line)
            if head is not None:
                epoch = int(head["epoch"])
            elif loss is not None and (value := read_number(loss["number"])) is not None:
                book.add(int(loss["epoch"]), [Cell("loss", value, "")], number)
            elif epoch is not None and line.strip():
                cells = [
                    Cell(f"eval/{found['key']}", value, "")
                    for found in _VALUE.finditer(line)
                    if (value := read_number(found["number"])) is not None
                ]
                if cells and _VALUE.match(line) is not None:
                    book.add(epoch, cells, number)
                epoch = None
        if not any(key.startswith("eval/") for row in book.rows for key in row.values):
            return Reading()
        run = book.run(document, format=self.name, framework="DeepSpeed-Chat", axis="epoch")
        return Reading((run,), frozenset(book.taken))
