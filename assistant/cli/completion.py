"""``metric-assistant completion bash|zsh|fish``: completion of commands, options and their values.

Generated from the same grammar that reads the command line, so that it never lacks an option.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

SHELLS = ("bash", "zsh", "fish")


@dataclass(frozen=True, slots=True)
class Option:
    """An option: its spellings, whether it takes a value, which ones if they are few, and its help."""

    names: tuple[str, ...]
    takes: bool
    choices: tuple[str, ...]
    help: str


@dataclass(frozen=True, slots=True)
class Command:
    """A command: its path (``index add``), options, the words that may follow, and its help."""

    path: tuple[str, ...]
    options: tuple[Option, ...]
    words: tuple[str, ...]
    help: str


def add_completion_parser(commands: Any) -> None:
    """Adds the command to the grammar."""
    completion = commands.add_parser(
        "completion", help="completion for a shell / 命令补全",
        description="Prints a completion script. bash: eval \"$(metric-assistant completion bash)\" in ~/.bashrc; zsh: "
        "the same with zsh in ~/.zshrc; fish: metric-assistant completion fish > "
        "~/.config/fish/completions/metric-assistant.fish",
    )  # fmt: skip
    completion.add_argument("shell", choices=list(SHELLS))
    completion.set_defaults(run=completion_command)


def completion_command(arguments: argparse.Namespace) -> int:
    """``completion``: prints the script."""
    from assistant.cli.main import build_parser

    print(script(build_parser(), arguments.shell), end="")
    return 0


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """The completion script of a grammar for a shell."""
    commands = list(commands_of(parser))
    write = {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]
    return write(parser.prog, commands)


def commands_of(parser: argparse.ArgumentParser, path: tuple[str, ...] = (), told: str = "") -> list[Command]:
    """The command itself and those below it."""
    options: list[Option] = []
    words: list[str] = []
    below: list[Command] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
            for name, child in action.choices.items():
                words.append(name)
                below += commands_of(child, (*path, name), helps.get(name, ""))
        elif action.option_strings:
            choices = tuple(map(str, action.choices or ()))
            takes = action.nargs != 0
            options.append(Option(tuple(action.option_strings), takes, choices, _one_line(action.help or "")))
        else:
            words += map(str, action.choices or ())
    return [Command(path, tuple(options), tuple(words), _one_line(told)), *below]


def _one_line(text: str) -> str:
    return " ".join(text.replace("%%", "%").split())


def _quoted(text: str) -> str:
    """As one word of a shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def _bash(prog: str, commands: list[Command]) -> str:
    """A function over the words typed so far; files where nothing else fits."""
    name = f"_{prog.replace('-', '_')}"
    cases, values = [], []
    for command in commands:
        key = " ".join(command.path)
        words = " ".join([*command.words, *(spelling for option in command.options for spelling in option.names)])
        cases.append(f"    {_quoted(key)}) words={_quoted(words)} ;;")
        for option in command.options:
            if not option.takes:
                continue
            held = _quoted(" ".join(option.choices))
            values += [f"    {_quoted(f'{key} {spelling}'.strip())}) takes=1; values={held} ;;"
                       for spelling in option.names]  # fmt: skip
    paths = " ".join(_quoted(" ".join(command.path)) for command in commands if command.path)
    return f"""\
# {prog} completion for bash
{name}() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}" path="" next word i
  local words="" values="" takes=0
  for ((i = 1; i < COMP_CWORD; i++)); do
    next="${{path:+$path }}${{COMP_WORDS[i]}}"
    for word in {paths}; do
      if [[ "$next" == "$word" ]]; then path="$next"; fi
    done
  done
  case "${{path:+$path }}$previous" in
{chr(10).join(values)}
  esac
  COMPREPLY=()
  if ((takes)); then
    if [[ -n "$values" ]]; then
      COMPREPLY=($(compgen -W "$values" -- "$current"))
    else
      COMPREPLY=($(compgen -f -- "$current"))
    fi
    return
  fi
  case "$path" in
{chr(10).join(cases)}
  esac
  if [[ "$current" == -* ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    return
  fi
  for word in $words; do
    if [[ "$word" != -* && "$word" == "$current"* ]]; then COMPREPLY+=("$word"); fi
  done
  if [[ -n "$path" ]]; then COMPREPLY+=($(compgen -f -- "$current")); fi
}}
complete -o filenames -F {name} {prog}
"""


def _zsh(prog: str, commands: list[Command]) -> str:
    """The same function through zsh's own reading of bash's completions."""
    return (
        f"#compdef {prog}\nautoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n"
        + _bash(prog, commands).replace("for bash", "for zsh")
    )


def _fish(prog: str, commands: list[Command]) -> str:
    """One ``complete`` a word."""
    lines = [f"# {prog} completion for fish"]
    top = " ".join(commands[0].words)
    for command in commands:
        if not command.path:
            condition = f"not __fish_seen_subcommand_from {top}"
        elif len(command.path) == 1:
            condition = f"__fish_seen_subcommand_from {command.path[0]}"
        else:
            condition = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in command.path)
        helps = {other.path[-1]: other.help for other in commands if other.path[:-1] == command.path and other.path}
        for word in command.words:
            told = f" -d {_fish_quote(helps[word])}" if helps.get(word) else ""
            flag = " -f" if not command.path else ""
            lines.append(f"complete -c {prog}{flag} -n {_fish_quote(condition)} -a {_fish_quote(word)}{told}")
        for option in command.options:
            spelt = "".join(
                f" -l {spelling[2:]}" if spelling.startswith("--") else f" -s {spelling[1:]}"
                for spelling in option.names
            )
            value = (
                f" -x -a {_fish_quote(' '.join(option.choices))}" if option.choices else " -r" if option.takes else ""
            )
            told = f" -d {_fish_quote(option.help)}" if option.help else ""
            lines.append(f"complete -c {prog} -n {_fish_quote(condition)}{spelt}{value}{told}")
    return "\n".join(lines) + "\n"


def _fish_quote(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
