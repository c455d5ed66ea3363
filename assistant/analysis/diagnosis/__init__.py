"""Failure modes that a log is consistent with, found by rules that are data.

How to add a rule: a list entry in a file of ``rules/`` (one file per family)::

    - rule: entropy_collapse            # stable id; its sentence is the phrase finding.entropy_collapse
      mode: FM-01
      card: failure/entropy-collapse
      steps: 10                         # points of the onset role below which the rule abstains
      onset: {of: policy_entropy, how: change, to: down}
      signs:
        entropy: {of: policy_entropy, stat: ratio, below: 0.5, noise: 4}
        clip: {of: clip_fraction, stat: ratio, below: 0.6, noise: 3}
      warning: {need: [entropy], among: [clip], least: 1}
      critical: {need: [entropy], among: [clip, zero_groups], least: 2}
      lookalikes:
        still_learning: {of: val_accuracy, stat: shift, above: 0, noise: 3, then: lower}
      unless: [not_finite, FM-29]       # rules or modes that explain the same and are more specific

``of`` names roles of ``roles*.yaml`` (a list: the first that the log holds). A sign whose role is absent is unknown,
which is not false. ``stat`` is a function of the vocabulary (modules ``statistics_*``), ``above`` / ``below`` its
bound, ``noise`` the standard errors by which it must stand out besides. ``onset`` may be a list: the first that gives
a step counts. ``onset.how``:

- ``change``: the series is fitted by level – ramp – level; ``departs``: it leaves the line of its first quarter
- ``first``: first step from which ``above`` / ``below`` holds for good; ``start``: it holds from the first step
  (always, without a bound); ``any``: first step that breaks it, even alone
- ``jump``: largest single step; ``top`` / ``bottom``: highest or lowest stretch, for what falls or rises afterwards
- ``restart``, ``rebound``, ``drop``, ``upturn``, ``repeats``, ``idle``, ``vanishes``: those of :mod:`breaks`

Look-alikes are conditions like signs; ``then`` says what one that is not ruled out does: ``note``, ``lower`` (a
critical becomes a warning), ``silent`` (the rule does not fire). Rules that one step settles stand in ``single.yaml``.
"""

from __future__ import annotations

from assistant.analysis.diagnosis.engine import diagnose
from assistant.analysis.diagnosis.model import Diagnosis, LookAlike, Sign
from assistant.analysis.diagnosis.roles import RoleSeries, role
from assistant.analysis.diagnosis.rules import Rule, load_rules, rules

__all__ = ["Diagnosis", "LookAlike", "RoleSeries", "Rule", "Sign", "diagnose", "load_rules", "role", "rules"]
