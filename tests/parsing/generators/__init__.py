"""Code that prints logs as training frameworks do, for tests."""
