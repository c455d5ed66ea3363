"""What a request carries: a JSON body or files, unpacked, never more of it than the body limit allows.

Large texts go to files in a temporary folder of the request and stay there until its reply was sent, so that neither
the memory nor the event loop feels them. ``Content-Encoding`` gzip and zstd, and files that are packed so, count after
they were expanded.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import zlib
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import orjson
from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect

from assistant.api.problems import ApiError
from assistant.service import Source
from assistant.settings import settings

M = TypeVar("M", bound=BaseModel)

#: Bytes from which a text is kept in a file.
SPOOL = 1 << 20
MOST_FILES = 2000
MOST_FIELDS = 200
LONGEST_NAME = 255
_PART = 1 << 16
_ZSTD_PART = 1 << 11  # a block of a few bytes may expand to 128 KiB
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


async def read_request(request: Request, model: type[M], *, field: str = "text") -> tuple[M, list[Source]]:
    """Body and sources of a request: JSON held against the model, or multipart with its fields and any files.

    Args:
        request: body not yet read.
        model: the body's model; a list field may be given several times in a form.
        field: the field of the model that holds a text to read as a log; it becomes the first source, when not empty.

    Returns:
        The body, and the sources: the field's text first (named as the model's ``name`` says, else ``log``), then
        the files in their order. ``content`` is a path where a text is large; the file lives as long as the request.
        The model's field is left empty where its text is large.

    Raises:
        ApiError: 413 over the limit, 400 damaged or cut, 415 another type or encoding.
        RequestValidationError: the body breaks the model.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        return await _read_form(request, model, field)
    if kind in {"application/json", ""} or kind.endswith("+json"):
        return await _read_json(request, model, field)
    raise ApiError(
        415, "unsupported_media_type",
        f"不支持的 Content-Type：{kind[:80]}。请发送 application/json 或 multipart/form-data。",
        f"The Content-Type {kind[:80]} is not supported: send application/json or multipart/form-data.",
    )  # fmt: skip


def body_limit(request: Request) -> int:
    """Most bytes of a body."""
    found: int = getattr(request.app.state, "max_body_bytes", 0) or settings().max_body_bytes
    return found


def too_large(limit: int) -> ApiError:
    """The error of a body over the limit."""
    size = limit // (1024 * 1024)
    return ApiError(
        413, "body_too_large",
        f"内容（解压后）超过 {size} MB。请只发送日志的一部分，或调大 ASSISTANT_MAX_BODY_MB。",
        f"The body is over {size} MB (expanded). Send a part of the log, or raise ASSISTANT_MAX_BODY_MB.",
        limit_bytes=limit,
    )  # fmt: skip


async def expanded(request: Request) -> AsyncGenerator[bytes]:
    """The body's bytes, unpacked, in parts; counted against the limit.

    Raises:
        ApiError: over the limit, damaged, or packed in another way.
    """
    limit = body_limit(request)
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    unpack = _unpacker(encoding)
    size = 0
    request.state.body_read = True
    try:
        async for chunk in request.stream():
            for part in unpack(chunk):
                size += len(part)
                if size > limit:
                    raise too_large(limit)
                yield part
    except ClientDisconnect:
        raise ApiError(
            400, "body_cut", "请求在发送完之前中断。", "The request ended before its body was whole."
        ) from None
    for part in unpack(b""):
        yield part


def _unpacker(encoding: str) -> Callable[[bytes], Iterator[bytes]]:
    if encoding in {"identity", ""}:
        return lambda chunk: iter((chunk,) if chunk else ())
    if encoding in {"gzip", "x-gzip"}:
        return _Gunzip().feed
    if encoding == "zstd":
        return _Unzstd().feed
    raise ApiError(
        415, "unsupported_encoding",
        f"不支持的 Content-Encoding：{encoding[:40]}。请用 gzip、zstd 或不压缩。",
        f"The Content-Encoding {encoding[:40]} is not supported: use gzip, zstd or none.",
        headers={"accept-encoding": "gzip, zstd, identity"},
    )  # fmt: skip


def _damaged(kind: str) -> ApiError:
    return ApiError(
        400, "body_damaged", f"{kind} 数据已损坏或不完整，请重新压缩后发送。",
        f"The {kind} data are damaged or incomplete: pack and send them again.",
    )  # fmt: skip


class _Gunzip:
    """All members of a gzip stream, expanded in parts of bounded size."""

    def __init__(self) -> None:
        self.inner = zlib.decompressobj(wbits=31)
        self.begun = False

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The expanded parts; an empty chunk is the end."""
        if not chunk:
            if self.begun and not self.inner.eof:
                raise _damaged("gzip")
            return
        self.begun = True
        data = chunk
        while data:
            if self.inner.eof:
                data = data.lstrip(b"\x00")
                if not data:
                    return
                self.inner = zlib.decompressobj(wbits=31)
            try:
                part = self.inner.decompress(data, _PART)
            except zlib.error:
                raise _damaged("gzip") from None
            if part:
                yield part
            data = self.inner.unused_data if self.inner.eof else self.inner.unconsumed_tail


class _Unzstd:
    """All frames of a zstd stream, expanded in parts of bounded size."""

    def __init__(self) -> None:
        try:
            from zstandard import ZstdDecompressor
        except ImportError:
            raise ApiError(
                415, "unsupported_encoding",
                "这台服务器没有安装 zstd：请用 gzip，或安装 metric-assistant[zstd]。",
                "zstd is not installed here: use gzip, or install metric-assistant[zstd].",
            ) from None  # fmt: skip
        self.make: Callable[[], Any] = lambda: ZstdDecompressor(max_window_size=1 << 27).decompressobj()
        self.frame: Any = None

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The expanded parts; an empty chunk is the end."""
        from zstandard import ZstdError

        if not chunk and self.frame is not None:
            raise _damaged("zstd")
        try:
            for at in range(0, len(chunk), _ZSTD_PART):
                data = chunk[at : at + _ZSTD_PART]
                while data:
                    self.frame = self.frame or self.make()
                    part = self.frame.decompress(data)
                    if part:
                        yield part
                    data = self.frame.unused_data if self.frame.eof else b""
                    self.frame = None if self.frame.eof else self.frame
        except ZstdError:
            raise _damaged("zstd") from None


# --- JSON ------------------------------------------------------------------------------------------------


async def _read_json(request: Request, model: type[M], field: str) -> tuple[M, list[Source]]:
    spool = Spool(request)
    async for part in expanded(request):
        await spool.write(part)
    held = spool.bytes()
    if held is None:
        from assistant.api.jobs import split_json
        from assistant.api.running import run_job

        path = spool.close()
        content: Any = await run_job(request, split_json, str(path), field, weight=spool.size)
        body = validated(model, content)
        text = path.with_suffix(".text")
        sources = [Source(_name_of(body), text)] if text.exists() else []
        return body, sources
    body = validated(model, _loaded(held))
    value = getattr(body, field, "")
    return body, [Source(_name_of(body), value.encode("utf-8", "replace"))] if value else []


def _loaded(data: bytes) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        where, why = ("body", error.pos), f"not valid JSON ({error.msg}, line {error.lineno}, column {error.colno})"
    try:
        data.decode()
    except UnicodeDecodeError as error:
        where, why = ("body", error.start), "not UTF-8: send the JSON as UTF-8, or the log as a file of a form"
    raise RequestValidationError([{"type": "json_invalid", "loc": where, "msg": why, "input": {}}])


def validated(model: type[M], content: Any) -> M:
    """An object held against a model.

    Raises:
        RequestValidationError: it does not fit.
    """
    try:
        body = model.model_validate(content)
    except ValidationError as error:
        found: Any = error.errors(include_url=False, include_context=False, include_input=False)
    else:
        found = _slips(model, content)
        if not found:
            return body
    raise RequestValidationError([{**item, "loc": ("body", *item["loc"])} for item in found])


def _slips(model: type[BaseModel], content: Any) -> list[dict[str, Any]]:
    """Members that are nearly one of the model's that is not there; whatever else is unknown is let pass."""
    if not isinstance(content, dict) or model.model_config.get("extra") == "allow":
        return []
    lacking = [name for name in model.model_fields if name not in content]
    slips = []
    for name in [name for name in content if name not in model.model_fields][:MOST_FIELDS]:
        near = get_close_matches(name[:LONGEST_NAME], lacking, 1, cutoff=0.75)
        if near:
            slips.append({"type": "extra_forbidden", "loc": (name,), "msg": f"unknown; did you mean {near[0]}?"})
    return slips


def _name_of(body: BaseModel) -> str:
    return str(getattr(body, "name", "") or "log")


class Spool:
    """Bytes as they come: in memory while they are few, else in a file of the request's folder."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.parts: list[bytes] = []
        self.size = 0
        self.file: Any = None
        self.path: Path | None = None

    async def write(self, part: bytes) -> None:
        """Takes a part."""
        self.size += len(part)
        self.parts.append(part)
        if self.size > SPOOL and sum(map(len, self.parts)) >= SPOOL // 4:
            await asyncio.to_thread(self._flush)

    def _flush(self) -> None:
        if self.file is None:
            self.path = request_folder(self.request) / f"body-{id(self)}"
            self.file = self.path.open("wb")
        self.file.writelines(self.parts)
        self.parts = []

    def bytes(self) -> bytes | None:
        """All of it; ``None`` where it went to a file."""
        return b"".join(self.parts) if self.file is None else None

    def close(self) -> Path:
        """The file, whole."""
        self._flush()
        self.file.close()
        assert self.path is not None
        return self.path


def request_folder(request: Request) -> Path:
    """A folder that is removed when the reply has been sent (:func:`forget_files`)."""
    state = request.scope.setdefault("state", {})
    if "folder" not in state:
        state["folder"] = Path(tempfile.mkdtemp(prefix="metric-assistant-"))
    found: Path = state["folder"]
    return found


def forget_files(scope: Any) -> None:
    """Removes what a request left on the disk."""
    folder = scope.get("state", {}).pop("folder", None)
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


# --- files -----------------------------------------------------------------------------------------------


async def _read_form(request: Request, model: type[M], field: str) -> tuple[M, list[Source]]:
    stream = expanded(request)
    parser = MultiPartParser(
        request.headers, stream, max_files=MOST_FILES, max_fields=MOST_FIELDS, max_part_size=body_limit(request)
    )
    try:
        form = await parser.parse()
    except MultiPartException as error:
        raise _bad_form(error.message) from None
    except ApiError:
        raise
    except Exception as error:
        if type(error).__module__.startswith(("python_multipart", "multipart")):
            raise _bad_form(str(error)) from None
        raise
    finally:
        await stream.aclose()
    try:
        values: dict[str, Any] = {}
        for name in {name for name, value in form.multi_items() if not isinstance(value, UploadFile)}:
            given = [value for value in form.getlist(name) if not isinstance(value, UploadFile)]
            values[name] = given if _is_list(model, name) else given[-1]
        body = validated(model, values)
        text = getattr(body, field, "")
        sources = [Source(_name_of(body), text.encode("utf-8", "replace"))] if text else []
        files = [value for _, value in form.multi_items() if isinstance(value, UploadFile)]
        sources += await asyncio.to_thread(_kept_files, request, files)
    finally:
        await form.close()
    return body, sources


def _bad_form(message: str) -> ApiError:
    return ApiError(400, "bad_form", f"表单无法读取：{message[:200]}", f"The form cannot be read: {message[:200]}")


def _is_list(model: type[BaseModel], name: str) -> bool:
    found = model.model_fields.get(name)
    return found is not None and "list" in str(found.annotation)


def _kept_files(request: Request, files: list[UploadFile]) -> list[Source]:
    """The files as sources, unpacked; together within the limit."""
    left = body_limit(request)
    sources = []
    for place, upload in enumerate(files):
        head = upload.file.read(4)
        upload.file.seek(0)
        feed: Callable[[bytes], Iterator[bytes]] = lambda chunk: iter((chunk,))  # noqa: E731
        if head.startswith(_GZIP):
            feed = _Gunzip().feed
        elif head.startswith(_ZSTD):
            feed = _Unzstd().feed
        parts: list[bytes] = []
        held, path, handle = 0, None, None
        try:
            while True:
                chunk = upload.file.read(_PART)
                for part in feed(chunk):
                    held += len(part)
                    left -= len(part)
                    if left < 0:
                        raise too_large(body_limit(request))
                    parts.append(part)
                    if held > SPOOL:
                        if handle is None:
                            path = request_folder(request) / f"file-{place}"
                            handle = path.open("wb")
                        handle.writelines(parts)
                        parts = []
                if not chunk:
                    break
        finally:
            if handle is not None:
                handle.writelines(parts)
                handle.close()
        name = _file_name(upload.filename)
        sources.append(Source(name, path if path is not None else b"".join(parts)))
    return sources


def _file_name(given: str | None) -> str:
    """A name to show: no folder steps out of itself, no control characters."""
    told = (given or "").replace("%22", '"')  # how a form writes a quotation mark (HTML, "multipart/form-data")
    name = "".join(char for char in told.replace("\\", "/") if char.isprintable())
    parts = [part for part in name.split("/") if part not in {"", ".", ".."}]
    with suppress(IndexError):
        while len("/".join(parts)) > LONGEST_NAME and len(parts) > 1:
            parts.pop(0)
    return "/".join(parts)[-LONGEST_NAME:] or "log"


def weight_of(sources: list[Source]) -> int:
    """Bytes of texts to read: the weight of a job over them."""
    size = 0
    for source in sources:
        content = source.content
        size += content.stat().st_size if isinstance(content, Path) else len(content)
    return size
