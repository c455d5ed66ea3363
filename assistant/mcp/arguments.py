"""Arguments of a call against the tool's schema, with errors from which a model can mend its call."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from assistant.mcp.catalogue import by_name
from assistant.model import InputError

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError

#: Characters of a refused value that an error shows.
_SHOWN = 80


def checked(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a tool as its function takes them: without those that are null, a step's number as text, a
    single text where a list may be given as a list.

    Args:
        name: of a tool that exists.
        arguments: as the client sent them.

    Raises:
        InputError: they break the schema; says which, why, and what is allowed.
    """
    given = {key: value for key, value in arguments.items() if value is not None}
    error = next(iter(sorted(_validator(name).iter_errors(given), key=lambda e: list(map(str, e.path)))), None)
    if error is not None:
        zh, en = _told(name, given, error)
        raise InputError(zh=f"{name}：{zh}", en=f"{name}: {en}")
    properties = by_name()[name]["inputSchema"]["properties"]
    return {key: _plain(value, properties[key].get("type")) for key, value in given.items()}


def _plain(value: Any, types: Any) -> Any:
    if isinstance(value, str) and isinstance(types, list) and "array" in types:
        return [value]
    return str(value) if isinstance(value, int) and types == ["string", "integer"] else value


@lru_cache(maxsize=32)
def _validator(name: str) -> Draft202012Validator:
    import jsonschema

    return jsonschema.Draft202012Validator(by_name()[name]["inputSchema"])


def _told(name: str, given: Mapping[str, Any], error: ValidationError) -> tuple[str, str]:
    known = list(by_name()[name]["inputSchema"]["properties"])
    where = ".".join(map(str, error.absolute_path)) or name
    allowed: Any = error.validator_value
    if error.validator == "additionalProperties":
        odd = [key for key in given if key not in known]
        near = get_close_matches(odd[0], known, 1)
        hint_zh = f"是不是 {near[0]}？" if near else ""
        hint_en = f" Did you mean {near[0]}?" if near else ""
        listed = ", ".join(known)
        return (
            f"没有名为 {odd[0][:_SHOWN]} 的参数。{hint_zh}参数有：{listed}。",
            f"there is no argument {odd[0][:_SHOWN]}.{hint_en} Arguments: {listed}.",
        )
    if error.validator == "required":
        lacking = ", ".join(key for key in allowed if key not in given)
        return f"缺少参数：{lacking}。", f"missing: {lacking}."
    shown = repr(error.instance)
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
    if error.validator == "enum":
        listed = ", ".join(map(str, allowed))
        return f"{where} 不能是 {shown}，可以是：{listed}。", f"{where} cannot be {shown}; it is one of {listed}."
    if error.validator == "type":
        zh, en = (joint.join([allowed] if isinstance(allowed, str) else allowed) for joint in (" 或 ", " or "))
        return f"{where} 的类型应为 {zh}，收到 {shown}。", f"{where} must be of type {en}, got {shown}."
    if error.validator in {"maxLength", "maxItems"}:
        return f"{where} 太长：最多 {allowed}。", f"{where} is too long: at most {allowed}."
    if error.validator in {"minimum", "maximum"}:
        zh, en = ("至少", "at least") if error.validator == "minimum" else ("至多", "at most")
        return f"{where} 应{zh} {allowed}，收到 {shown}。", f"{where} must be {en} {allowed}, got {shown}."
    if error.validator in {"minLength", "minItems"}:
        return f"{where} 不能为空。", f"{where} must not be empty."
    return f"{where} 不合要求：{error.message[:200]}", f"{where}: {error.message[:200]}"
