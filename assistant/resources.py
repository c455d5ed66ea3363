"""Where the data folders lie: cards, prompts and examples are files that people edit, not Python."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

DataFolder = Literal["knowledge", "prompts", "examples"]

PACKAGE = Path(__file__).resolve().parent


def data_folder(name: DataFolder) -> Path:
    """The folder that holds `name`.

    An installed wheel carries its copy in `assistant/_data/<name>`; in a checkout the folder stands
    beside the package. The wheel's copy comes first, so that an unrelated `knowledge` folder in
    site-packages is never taken for ours.

    Raises:
        FileNotFoundError: neither place has it; names both and what to do.
    """
    installed = PACKAGE / "_data" / name
    checkout = PACKAGE.parent / name
    for folder in (installed, checkout):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(
        f"the folder {name!r} is missing: looked for {installed} (an installed package) and {checkout} "
        "(a checkout). Install the package again, or restore the folder from the repository."
    )
