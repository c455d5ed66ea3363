"""Evaluations: how exact the parsers are and how the answers hold up, on any folder of logs."""
