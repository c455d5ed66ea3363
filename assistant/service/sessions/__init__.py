"""Sessions that survive anything: logs, questions and answers in SQLite or PostgreSQL.

Nothing here is loaded before a session is used.
"""
