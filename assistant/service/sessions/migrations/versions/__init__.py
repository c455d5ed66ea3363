"""One module a change of the tables, each named after its number."""
