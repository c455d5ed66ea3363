"""A language model over the facts: fluent prose, each sentence checked before it is shown.

Nothing here loads LangChain until a model is really asked.
"""

from assistant.agent.answering import respond, respond_async, stream
from assistant.agent.inquiry import Event, Inquiry, inquiry_of, wanted

__all__ = ["Event", "Inquiry", "inquiry_of", "respond", "respond_async", "stream", "wanted"]
