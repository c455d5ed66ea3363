"""metric-assistant: ask about a training log, get an answer whose every number is traced.

Errors raised by the package derive from :class:`assistant.model.errors.AssistantError`:

``AssistantError``
    ``InputError``           what the user gave can be mended (exit status 2)
        ``EmptyInput``       nothing but white space
        ``BinaryInput``      bytes that hold no text
        ``SourceNotFound``   no such file
        ``SourceIsFolder``   a folder in which no log was recognised
        ``UnknownMetric``    no definition by that name
    ``GroundingError``       development only: a finished text holds a number no fact supports
    ``KnowledgeError``       a card, phrase or rule file breaks its schema (file and field are named)
"""

__version__: str


def __getattr__(name: str) -> str:
    """``__version__``, looked up when it is asked for: what reads it takes longer to load than a log to answer."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import metadata

    try:
        return metadata.version("metric-assistant")
    except metadata.PackageNotFoundError:  # a bare checkout on sys.path
        return "0.0.0"
