"""How the server holds: requests of every kind, hostile bodies, load."""
