"""How well cards are found: questions by another hand, half of them held out."""
