"""Telling an editor of this server: what to write into which file, and how to take it out again."""
