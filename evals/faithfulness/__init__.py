"""Whether the check of a finished text catches what is false about a run and lets through what is true."""
