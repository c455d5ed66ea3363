"""Questions that ask for several values at once, read word by word: metrics, parts of the run, statistics, limits.

What single questions ask for has readers of its own. A question is read here only where it asks for more than one of
them to be told or set against each other, and only where every word of it was read (:mod:`.tags`, :mod:`.build`).
"""
