"""``dev-model``: a scripted model on loopback, for trying the agent without a key."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from assistant.model import InputError


def add_dev_model_parser(commands: Any) -> None:
    """Adds the command to the command line's grammar."""
    parser = commands.add_parser("dev-model", help="a scripted model on loopback, for trials / 本机脚本模型，供试用")
    parser.add_argument("--script", default="echo", metavar="NAME|FILE", help="a shipped script or a YAML file of one")
    parser.add_argument("--port", type=int, default=8001, help="0 takes a free one")
    parser.add_argument("--list", action="store_true", help="the shipped scripts")
    parser.set_defaults(run=dev_model_command)


def dev_model_command(arguments: argparse.Namespace) -> int:
    """Serves until interrupted; prints how to use it."""
    from assistant.devmodel import DevModel, Script, ScriptError, builtin, builtin_names, load_script

    if arguments.list:
        for name, about in builtin_names().items():
            print(f"{name:22} {about}")
        return 0
    wish: str = arguments.script
    try:
        script: Script
        if wish in builtin_names():
            script = builtin(wish)
        elif Path(wish).is_file():
            script = load_script(Path(wish).read_text(encoding="utf-8"), wish)
        else:
            raise InputError(
                zh=f"没有名为“{wish}”的脚本，也没有这个文件。--list 列出自带脚本。",
                en=f"No script and no file is called “{wish}”. --list shows the shipped scripts.",
            )
    except (ScriptError, UnicodeDecodeError) as error:
        raise InputError(zh=f"脚本无法使用：{error}", en=f"The script cannot be used: {error}") from error
    try:
        with DevModel(script, port=arguments.port) as server:
            print(f"dev-model ({wish}) on {server.base_url}; Ctrl-C ends it. In another terminal:", file=sys.stderr)
            print(f"  export ASSISTANT_LLM_BASE_URL={server.base_url} ASSISTANT_LLM_MODEL=dev")
            sys.stdout.flush()
            server.join()
    except KeyboardInterrupt:
        return 0
    except OSError as error:
        raise InputError(
            zh=f"端口 {arguments.port} 无法使用：{error.strerror}。--port 0 自动选择。",
            en=f"Port {arguments.port} cannot be used: {error.strerror}. --port 0 takes a free one.",
        ) from error
    return 0
