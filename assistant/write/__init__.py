"""Facts → Markdown in Chinese and English, every number tied to its fact."""

from assistant.write.document import Document, Rendered
from assistant.write.numbers import format_number, signed
from assistant.write.phrases import Phrases, phrases

__all__ = ["Document", "Phrases", "Rendered", "format_number", "phrases", "signed"]
