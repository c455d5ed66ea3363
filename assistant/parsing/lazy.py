"""Formats that are loaded when a text holds a word without which they find nothing."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from assistant.parsing.repair import Document
from assistant.parsing.table import Reading


@dataclass(frozen=True)
class LazyFormat:
    """Stands for a format until a text needs it, so that its grammar costs no start-up time.

    Attributes:
        name: how it is registered.
        strength: its place in the order.
        place: module and class, as ``module:Class``, in this package.
        words: a text with none of them holds no such log.
    """

    name: str
    strength: int
    place: str
    words: tuple[str, ...]

    def read(self, document: Document) -> Reading:
        """What the format reads."""
        if not any(word in document.text for word in self.words):
            return Reading()
        reading = self.load().read(document)
        return reading if isinstance(reading, Reading) else Reading()

    def load(self) -> Any:
        """The format it stands for."""
        module, _, kind = self.place.partition(":")
        return getattr(import_module(f"assistant.parsing.{module}"), kind)()


FORMATS = (
    LazyFormat("rlinf", 91, "rlinf:RLinf", ("Global Step:",)),
    LazyFormat("megatron", 70, "megatron:Megatron", ("iteration",)),
    LazyFormat("headed-lines", 61, "headed:HeadedLines", ("step", "Step", "Epoch", "Iter", "epoch ", "|Loss: ")),
    LazyFormat("nanogpt", 60, "nanogpt:NanoGPT", ("step", "Step", "iter", "Iter", "it ", "trl:", "tel:", " | loss ")),
    LazyFormat("rsl-rl", 56, "boxtable:RslRl", ("Learning iteration",)),
    LazyFormat("box-table", 55, "boxtable:BoxTables", ("-----", "=====", " |")),
    LazyFormat("bar-postfix", 54, "postfix:BarPostfix", ("/s, ", "s/it, ", "=")),
    LazyFormat("keras", 54, "keras:KerasBars", ("loss: ",)),
    LazyFormat("sb3-eval", 54, "sbeval:BaselinesEval", ("Eval num_timesteps=",)),
    LazyFormat("dreamer", 54, "dreamer:Dreamer", (" / ",)),
    LazyFormat("yolo", 54, "yolo:YoloTables", ("box_loss", "gpu_mem", "GPU_mem")),
    LazyFormat("ray-tune", 53, "raytune:RayTune", ("training_iteration:",)),
    LazyFormat("json", 42, "jsonlog:JsonLogs", ("{",)),
    LazyFormat("python-dict", 41, "printedrecords:PrintedRecords", ("{",)),
    LazyFormat("csv", 40, "csvtable:CsvTables", (",", "\t", ";")),
    LazyFormat("bracket-lines", 16, "plainlines:BracketLines", ("[",)),
    LazyFormat("tabbed-blocks", 15, "plainlines:TabbedBlocks", ("\t",)),
    LazyFormat(
        "counted-lines",
        14,
        "plainlines:CountedLines",
        ("pisode", "poch", "tep", "ter", "pdate", "eneration", "ound", "Ep", "ep ", "0] "),
    ),
    LazyFormat("banner-blocks", 15, "bannerblocks:BannerBlocks", ("---", "===", "***", "###", ">>>")),
    LazyFormat("aligned-table", 13, "alignedtable:AlignedTables", ("poch ", "tep ", "teration ", "pisode ", "poch\t")),
    LazyFormat("labelled-lines", 13, "labelled:LabelledLines", (" = ",)),
    LazyFormat("markdown-table", 12, "mdtable:MarkdownTables", ("--",)),
    LazyFormat("wandb-summary", 8, "wandbsummary:WandbSummary", ("Run summary:",)),
)
"""The formats of this kind that come with the package."""
