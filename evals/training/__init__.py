"""Real training runs, small enough for one CPU core, as material for the parsers and the diagnosis.

``train`` needs an environment of its own (torch, trl, stable-baselines3); scoring needs only this project.
"""
