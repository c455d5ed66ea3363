// The REST API: requests, errors with what to do, and server-sent events over fetch.

import { lang, recall, remember, t } from "./i18n.js";

/** What went wrong, in words; `status` 0 where the server cannot be reached. */
export class ApiError extends Error {
  constructor(status, code, message, retryAfter = 0) {
    super(message);
    Object.assign(this, { status, code, retryAfter });
  }
  /** Whether trying again later may help by itself. */
  get passing() { return this.status === 0 || this.status === 429 || this.status === 502 || this.status === 503 || this.status === 504; }
}

let askForKey = null, asking = null;
export const onKeyNeeded = (ask) => { askForKey = ask; };
const keyGiven = () => { asking ??= askForKey().finally(() => { asking = null; }); return asking; };
export const setKey = (key) => remember("access-key", key);

export function headers(more = {}) {
  const key = recall("access-key");
  return { "accept-language": lang(), ...(key ? { authorization: `Bearer ${key}` } : {}), ...more };
}

export async function failure(reply) {
  let body = {};
  try { body = await reply.json(); } catch { /* not ours: a proxy's page */ }
  return errorOf(reply.status, { request_id: reply.headers.get("x-request-id"), ...body }, reply.headers.get("retry-after"));
}

/** What a problem document says, in the page's language where it has it; a fault of the server with the id to report. */
export function problemText(body, status = body.status ?? 0) {
  if (body.code === "internal_error" && body.request_id) return t("error.internal", { id: body.request_id });
  const detail = body[lang()] ?? body[`detail_${lang()}`] ?? body.detail ?? body.message;
  if (typeof detail === "string" && detail) return detail;
  return status ? t(body.request_id ? "error.statusId" : "error.status", { status: String(status), id: body.request_id ?? "" }) : "";
}

/** The error of a status and a problem document. */
export function errorOf(status, body, retryAfter) {
  return new ApiError(status, body.code ?? "", problemText(body, status), Number(retryAfter) || 0);
}

async function send(path, options) {
  let reply;
  try {
    reply = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, "unreachable", t("error.unreachable"));
  }
  if (reply.status === 401 && askForKey && (await keyGiven())) return send(path, { ...options, headers: { ...options.headers, ...headers() } });
  if (!reply.ok) throw await failure(reply);
  return reply;
}

/** A request with a JSON body, if any; gives the JSON answer, `null` where there is none. */
export async function call(method, path, { json, signal, more } = {}) {
  const body = json === undefined ? undefined : JSON.stringify(json);
  const reply = await send(path, { method, signal, body, headers: headers({ accept: "application/json", ...(body ? { "content-type": "application/json" } : {}), ...more }) });
  return reply.status === 204 ? null : reply.json();
}

export const get = (path, options) => call("GET", path, options);

/** A file for the user to keep. */
export async function download(path, name) {
  const reply = await send(path, { headers: headers() });
  save(await reply.blob(), name);
}

export function save(content, name, type = "application/json") {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/**
 * Server-sent events of a request, one by one: `{event, data, id}`. Ends when the server closes; throws an ApiError
 * where the connection is refused or breaks.
 */
export async function* events(path, { method = "GET", json, signal, more } = {}) {
  const body = json === undefined ? undefined : JSON.stringify(json);
  const reply = await send(path, { method, signal, body, cache: "no-store", headers: headers({ accept: "text/event-stream", ...(body ? { "content-type": "application/json" } : {}), ...more }) });
  if (!(reply.headers.get("content-type") ?? "").startsWith("text/event-stream")) {
    yield { event: "answer", data: await reply.json(), id: "", messageId: reply.headers.get("x-message-id") };
    return;
  }
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      let part;
      try { part = await reader.read(); } catch (error) {
        if (error.name === "AbortError") throw error;
        throw new ApiError(0, "broken", t("error.broken"));
      }
      if (part.done) return;
      rest += part.value;
      const blocks = rest.split(/\r\n\r\n|\n\n|\r\r/);
      rest = blocks.pop();
      for (const block of blocks) {
        const found = { event: "message", id: "", lines: [] };
        for (const line of block.split(/\r\n|\n|\r/)) {
          const at = line.indexOf(":");
          if (at === 0) continue;
          const name = at < 0 ? line : line.slice(0, at), value = at < 0 ? "" : line.slice(at + 1).replace(/^ /, "");
          if (name === "event") found.event = value;
          else if (name === "id") found.id = value;
          else if (name === "data") found.lines.push(value);
        }
        if (!found.lines.length) continue;
        const text = found.lines.join("\n");
        let data = text;
        try { data = JSON.parse(text); } catch { /* plain text */ }
        yield { event: found.event, id: found.id, data };
      }
    }
  } finally { reader.cancel().catch(() => {}); }
}

/** Sends files or text over HTTP and tells how much has gone: `{promise, abort}`. */
export function upload(path, form, progress) {
  const request = new XMLHttpRequest();
  const promise = new Promise((resolve, reject) => {
    request.open("POST", path);
    for (const [name, value] of Object.entries(headers({ accept: "application/json" }))) request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", (event) => { if (event.lengthComputable) progress(event.loaded / event.total); });
    request.upload.addEventListener("load", () => progress(1));
    request.addEventListener("load", () => {
      let body = {};
      try { body = JSON.parse(request.responseText); } catch { /* a proxy's page */ }
      if (request.status < 300) resolve(body);
      else reject(errorOf(request.status, { request_id: request.getResponseHeader("x-request-id"), ...body }, request.getResponseHeader("retry-after")));
    });
    request.addEventListener("error", () => reject(new ApiError(0, "unreachable", t("error.unreachable"))));
    request.addEventListener("abort", () => reject(new DOMException("", "AbortError")));
    request.send(form);
  });
  return { promise, abort: () => request.abort() };
}

/** A name that no other request has: sent again with it, a message is never doubled. */
export function freshKey() {
  if (crypto.randomUUID) return crypto.randomUUID();
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export const wait = (milliseconds, signal) => new Promise((resolve) => {
  const timer = setTimeout(resolve, milliseconds);
  signal?.addEventListener("abort", () => { clearTimeout(timer); resolve(); }, { once: true });
});
