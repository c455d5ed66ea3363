"""The Model Context Protocol: the tools for Cursor, VS Code, Claude Code and others.

:func:`serve_stdio` for a client that starts this process, :func:`mount` for the HTTP server.
"""

from __future__ import annotations

from assistant.mcp.http import mount
from assistant.mcp.stdio import serve_stdio

__all__ = ["mount", "serve_stdio"]
