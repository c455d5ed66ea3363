"""What the tools for agents cost: tokens of each reply, of the list of tools, and how soon the list is there."""
