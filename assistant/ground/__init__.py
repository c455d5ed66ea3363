"""The check: reads a finished text again and ties every number to a fact, or says which it cannot."""

from assistant.ground.check import Checked, check

__all__ = ["Checked", "check"]
