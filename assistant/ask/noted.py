"""What of the reading of a log belongs beside an answer: where runs were told apart, and steps that go back."""

from __future__ import annotations

from assistant.ask.context import Context


def cut_apart(context: Context) -> list[str]:
    """Where and why one log was taken as several runs, and how steps were counted or chosen, each place once."""
    found = {
        (run.name.rpartition(" #")[0], note.line, note.code): note.text(context.language)
        for run in context.runs
        for note in run.warnings
        if note.code in {"another_run", "several_values_a_step", "step_counted"}
    }
    return list(found.values())


def overprinted(context: Context) -> list[str]:
    """That a run's steps go back: where the restart stands, and that the later of two values counts."""
    found = []
    for run in context.runs:
        notes = [note.text(context.language) for note in run.warnings if note.code == "restart"]
        twice = len(run.steps) - len(run.distinct_steps)
        if notes and twice:
            blank = "" if context.language == "zh" else " "
            found.append(f"{notes[0]}{blank}{context.say('note.overprinted', n=str(twice))}")
    return found
