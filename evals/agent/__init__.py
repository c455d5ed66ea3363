"""Evaluations of answers with a model: faults, lies, injections, and what our side adds in time."""
