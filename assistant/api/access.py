"""Who may call: loopback alone without keys; with keys, whoever shows one, within its scopes.

Without keys the server also refuses a ``Host`` that is not its own (a page whose name was rebound to 127.0.0.1) and, in
either case, requests that change something and come from a page of another origin.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from fastapi import Request

from assistant.api.problems import ApiError
from assistant.model import InputError
from assistant.settings import Serving

SCOPES = frozenset({"ask", "read", "write", "admin"})
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
#: What anybody may fetch: the page itself, its files, the API's description, and whether the server lives.
OPEN = ("/", "/static/*", "/favicon.ico", "/docs", "/docs/*", "/openapi.json", "/healthz", "/readyz")
#: Of applications that are mounted and know nothing of scopes.
MOUNTED = {"/mcp": "ask"}
LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
LONGEST_KEY = 256

_NAME = re.compile(r"[A-Za-z0-9_.@-]{1,64}")
_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls.

    Attributes:
        name: of the key; ``local`` without keys.
        scopes: what it may do: ``ask`` (answers), ``read`` (definitions, sessions, metrics), ``write`` (sessions),
            ``admin``.
    """

    name: str
    scopes: frozenset[str]


LOCAL = Caller("local", SCOPES)


@dataclass(frozen=True, slots=True)
class Key:
    """A configured key: its caller, and the SHA-256 of the key itself."""

    caller: Caller
    digest: str


def new_key(name: str, scopes: Iterable[str]) -> tuple[str, str]:
    """A new key and the entry of ``ASSISTANT_API_KEYS`` for it; the key itself is kept nowhere.

    Raises:
        InputError: the name or a scope cannot be used.
    """
    chosen = sorted(set(scopes)) or sorted(SCOPES - {"admin"})
    key = "ma_" + secrets.token_urlsafe(32)
    entry = f"{name}:{'+'.join(chosen)}:{digest_of(key)}"
    read_keys(entry)
    return key, entry


def digest_of(key: str) -> str:
    """What is kept of a key. Keys hold 256 random bits, so that one plain hash is enough."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def read_keys(text: str) -> tuple[Key, ...]:
    """The keys of ``ASSISTANT_API_KEYS``: entries, or the path of a file of them.

    Raises:
        InputError: an entry cannot be read; the message tells which, not what it holds.
    """
    entries = text.split(",")
    if text and ":" not in text.removeprefix("@"):
        try:
            lines = Path(text.removeprefix("@")).expanduser().read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            raise InputError(
                zh="ASSISTANT_API_KEYS 指向的文件读不了：请检查路径和权限。",
                en="The file that ASSISTANT_API_KEYS names cannot be read: check its path and permissions.",
            ) from None
        entries = [line for line in lines if not line.lstrip().startswith("#")]
    keys: list[Key] = []
    for place, entry in enumerate(filter(None, (entry.strip() for entry in entries)), 1):
        name, _, rest = entry.partition(":")
        scopes, _, digest = rest.partition(":")
        wanted = frozenset(filter(None, re.split(r"[+|\s]", scopes)))
        known = {key.caller.name for key in keys}
        bad = not _NAME.fullmatch(name) or not _HASH.fullmatch(digest.lower()) or not wanted or wanted - SCOPES
        if bad or name in known:
            raise InputError(
                zh=f"ASSISTANT_API_KEYS 的第 {place} 项有误：格式为 名称:范围+范围:sha256（64 位十六进制），"
                f"名称不能重复，范围有 {'、'.join(sorted(SCOPES))}。可用 metric-assistant keys new 名称 生成。",
                en=f"Entry {place} of ASSISTANT_API_KEYS is not valid: it is name:scope+scope:sha256 (64 hexadecimal "
                f"digits), no name twice, scopes are {', '.join(sorted(SCOPES))}. "
                "`metric-assistant keys new NAME` makes one.",
            )
        keys.append(Key(Caller(name, wanted), digest.lower()))
    return tuple(keys)


def is_loopback(host: str | None) -> bool:
    """Whether an address is this machine's own."""
    if not host:
        return False
    name = host.strip("[]").partition("%")[0].rstrip(".").lower()
    if name == "localhost":
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    return bool(mapped.is_loopback)


class Gatekeeper:
    """The rules of one application.

    Args:
        serving: settings.

    Raises:
        InputError: the configured keys cannot be read.
    """

    def __init__(self, serving: Serving) -> None:
        self.keys = read_keys(serving.api_keys)
        if serving.api_keys and not self.keys:  # an empty file must not open the door
            raise InputError(zh="ASSISTANT_API_KEYS 里没有任何密钥。", en="ASSISTANT_API_KEYS is set but holds no key.")
        self.origins = frozenset(serving.cors_origins)
        self.hosts = LOCAL_NAMES | {host.lower() for host in serving.allowed_hosts}
        self.open = [*OPEN]

    def admit(self, request: Request) -> Caller:
        """Who calls; kept in the request's state for :func:`caller`.

        Raises:
            ApiError: 401 no or a wrong key, 403 another machine or another site's page, 421 not our name.
        """
        self._refuse_other_sites(request)
        if not self.keys:
            self._refuse_other_machines(request)
            found = LOCAL
        elif request.method == "OPTIONS" or self.is_open(request.url.path):
            found = self._known(_shown_key(request)) or Caller("anonymous", frozenset())
        else:
            found = self._needed(request)
            scope = next((MOUNTED[path] for path in MOUNTED if f"{request.url.path}/".startswith(f"{path}/")), None)
            if scope is not None and scope not in found.scopes:
                raise _lacks(scope)
        request.scope.setdefault("state", {})["caller"] = found
        return found

    def is_open(self, path: str) -> bool:
        """Whether a path needs no key."""
        return any(path == one or (one.endswith("/*") and path.startswith(one[:-1])) for one in self.open)

    def _needed(self, request: Request) -> Caller:
        shown = _shown_key(request)
        found = self._known(shown)
        if found is None:
            raise ApiError(
                401, "key_needed" if not shown else "key_unknown",
                "需要有效的访问密钥：Authorization: Bearer … 或 X-API-Key: …",
                "A valid access key is needed: Authorization: Bearer … or X-API-Key: …",
                headers={"www-authenticate": "Bearer"},
            )  # fmt: skip
        return found

    def _known(self, shown: str) -> Caller | None:
        """The caller of a key; every configured one is compared, in constant time each."""
        digest, found = digest_of(shown), None
        for key in self.keys:
            if hmac.compare_digest(key.digest, digest):
                found = key.caller
        return found if shown else None

    def _refuse_other_machines(self, request: Request) -> None:
        if request.client is not None and request.client.host and not is_loopback(request.client.host):
            raise ApiError(
                403, "loopback_only",
                "没有配置访问密钥，只允许本机访问。请设置 ASSISTANT_API_KEYS。",
                "There are no access keys, so only this machine may connect. Set ASSISTANT_API_KEYS.",
            )  # fmt: skip
        name = _host_of(request.headers.get("host", ""))
        if name not in self.hosts and not is_loopback(name):
            raise ApiError(
                421, "host_not_allowed",
                "请求的 Host 不是本机。如果名称属于这台服务器，请加入 ASSISTANT_ALLOWED_HOSTS。",
                "The Host of the request is not this server's. If the name is its own, add it to "
                "ASSISTANT_ALLOWED_HOSTS.",
            )  # fmt: skip

    def _refuse_other_sites(self, request: Request) -> None:
        """A page of another origin may not make this server do something; browsers say where a request is from."""
        if request.method in SAFE_METHODS:
            return
        origin = request.headers.get("origin")
        site = request.headers.get("sec-fetch-site", "none")
        own = origin is not None and urlsplit(origin).netloc.lower() == request.headers.get("host", "").lower() != ""
        if own or (origin is None and site in {"none", "same-origin"}):
            return
        if origin is not None and origin.rstrip("/") in self.origins:
            return
        raise ApiError(
            403, "cross_site",
            "来自其他网站页面的请求被拒绝。如需允许，请设置 ASSISTANT_CORS_ORIGINS。",
            "A request from another site's page is refused. ASSISTANT_CORS_ORIGINS allows an origin.",
        )  # fmt: skip


def caller(request: Request) -> Caller:
    """Who calls; everything is allowed on loopback without keys."""
    found: Caller = request.scope.get("state", {}).get("caller", Caller("anonymous", frozenset()))
    return found


def needs(scope: str) -> Callable[[Request], Caller]:
    """A dependency: ``Depends(needs("write"))`` refuses with 403 a caller whose key lacks the scope."""
    if scope not in SCOPES:
        raise ValueError(scope)

    def dependency(request: Request) -> Caller:
        found = caller(request)
        if scope not in found.scopes:
            raise _lacks(scope)
        return found

    return dependency


def _lacks(scope: str) -> ApiError:
    return ApiError(
        403, "scope_missing", f"这个密钥没有 {scope} 权限，请换一个有此权限的密钥。",
        f"This key lacks the scope {scope}: use one that has it (metric-assistant keys new NAME --scope {scope}).",
        scope=scope,
    )  # fmt: skip


def _shown_key(request: Request) -> str:
    kind, _, shown = request.headers.get("authorization", "").partition(" ")
    key = shown.strip() if kind.lower() == "bearer" else request.headers.get("x-api-key", "").strip()
    return key if len(key) <= LONGEST_KEY else ""


def _host_of(header: str) -> str:
    """The name of a ``Host`` header, without its port."""
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    return header.rpartition(":")[0].lower() if header.count(":") == 1 else header.lower()
