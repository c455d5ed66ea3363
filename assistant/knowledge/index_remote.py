"""Embeddings of any OpenAI-compatible server, through LangChain."""

from __future__ import annotations

from typing import Any

from assistant.knowledge.embedding import Embedding

_BATCH = 64


def remote_embedding(model: str, base_url: str, api_key: str) -> Embedding:
    """An embedding model behind an OpenAI-compatible URL.

    Texts are sent as they are: counting tokens first would download a tokenizer's ranks.

    Args:
        model: the server's name for it.
        base_url: ``""`` for OpenAI's own.
        api_key: ``""`` for a server that wants none.
    """
    from langchain_openai import OpenAIEmbeddings

    made: Any = OpenAIEmbeddings(
        model=model,
        base_url=base_url or None,
        api_key=lambda: api_key or "none",
        check_embedding_ctx_length=False,
        chunk_size=_BATCH,
        timeout=30,
        max_retries=2,
    )
    embedding: Embedding = made
    return embedding
