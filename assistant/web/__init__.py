"""The chat page: static files of ES modules over the REST API, and the few helper routes that the page alone needs.

:func:`mount` puts both on the application. The page has no build step and no framework, loads nothing from another
host, and works under a content security policy without inline scripts or styles.
"""

from assistant.web.mounting import mount

__all__ = ["mount"]
