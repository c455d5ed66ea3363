"""Questions as engineers type them about training logs, with what a right answer holds.

``runs.yaml`` names the logs, :mod:`evals.questions.logs` makes them, and ``*_open.yaml``, ``*_held.yaml`` and
``*_fresh.yaml`` hold the questions. The held halves are for measuring alone: nothing is tuned on them.
"""
