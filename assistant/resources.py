"""Where the data folders lie: cards, prompts and examples are files that people edit, not Python."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any, Literal

DataFolder = Literal["knowledge", "prompts", "examples", "skills"]

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


def cache_folder() -> Path:
    """Where derived files may be kept: ``$XDG_CACHE_HOME/metric-assistant`` or its usual place."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - there may be no home
    return Path(base) / "metric-assistant"


def yaml_table(path: Path) -> Any:
    """A shipped YAML file's contents.

    Reading YAML is most of what a short command would wait for, so its contents are kept as JSON in the cache folder,
    under the hash of the file's bytes; a file that JSON cannot hold as it is (numbers as keys) is read each time.

    Raises:
        OSError: it cannot be read.
        yaml.YAMLError: it is no YAML.
    """
    import orjson

    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()[:24]
    kept = cache_folder() / "tables" / f"{path.stem}-{digest}.json"
    try:
        return orjson.loads(kept.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        pass
    import yaml

    table = yaml.load(content.decode("utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    try:
        text = orjson.dumps(table)
        if orjson.loads(text) == table:
            kept.parent.mkdir(parents=True, exist_ok=True)
            beside = kept.with_name(f"{kept.name}.{os.getpid()}")
            beside.write_bytes(text)
            beside.replace(kept)
    except (OSError, TypeError):
        pass
    return table
