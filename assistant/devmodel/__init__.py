"""A scripted model behind an OpenAI-compatible HTTP server on loopback: for tests, and for trying things without a key.

It speaks the protocol as real servers do, streams and tool calls included, and fails as they do, on request.
"""

from assistant.devmodel.script import Rule, Script, ScriptError, Step, builtin, builtin_names, load_script
from assistant.devmodel.server import DevModel, Received

__all__ = ["DevModel", "Received", "Rule", "Script", "ScriptError", "Step", "builtin", "builtin_names", "load_script"]
