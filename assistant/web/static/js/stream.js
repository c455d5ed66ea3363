// An answer while it is made: sent once (the same key again after a failure), followed through breaks and restarts.

import { ApiError, call, events, freshKey, get, wait } from "./api.js";
import { recall, remember } from "./i18n.js";

const FIRST_PAUSE = 400, LONGEST_PAUSE = 5000;

/** What was sent and not acknowledged: it outlives a reload, so that nothing typed is lost. */
export const outbox = {
  put: (session, entry) => remember(`outbox:${session}`, JSON.stringify(entry)),
  take: (session) => { try { return JSON.parse(recall(`outbox:${session}`)); } catch { return null; } },
  clear: (session) => remember(`outbox:${session}`, null),
};

/**
 * Follows an answer until it is there.
 *
 * @param session its id.
 * @param ask what to send: `{content, lang, engine, replace, key}`; or null with `message`, the id of one under way.
 * @param handle called with each event: `message`, `step`, `fact`, `delta`, `answer`, `error`, `stopped`; `stored` with the message where only
 *   that is left; `lost` and `back` as the connection goes and comes; `again` when the answer is made anew.
 * @param signal ends the following (not the answer).
 */
export async function follow(session, { ask = null, message = null, handle, signal }) {
  let last = "", attempt = "", pause = FIRST_PAUSE, lost = false, finished = false;
  if (ask && !ask.key) ask.key = freshKey();
  if (ask) outbox.put(session, ask);
  while (!signal.aborted && !finished) {
    try {
      const stream = message
        ? events(`/sessions/${session}/messages/${message}/events`, { signal, more: last ? { "last-event-id": last } : {} })
        : events(`/sessions/${session}/messages`, { method: "POST", signal, json: body(ask), more: { "idempotency-key": ask.key } });
      for await (const event of stream) {
        if (lost) { lost = false; handle("back", {}); }
        pause = FIRST_PAUSE;
        if (event.id) {
          last = event.id;
          const now = /^(\d+)\./.exec(event.id)?.[1] ?? "0";
          if (Number(now) > 0 && now !== attempt) { if (attempt) handle("again", {}); attempt = now; } // made anew after a crash
        }
        if (event.event === "message" || event.messageId) {
          message = event.messageId ?? assistantOf(event.data)?.id ?? message;
          outbox.clear(session);
        }
        handle(event.event, event.data);
        if (event.event === "answer" || event.event === "error" || event.event === "stopped") { finished = true; outbox.clear(session); break; }
      }
      if (finished || signal.aborted) return;
      // The stream ended without a result: stopped, or the server went away. The stored message tells.
      if (message) {
        const stored = await get(`/sessions/${session}/messages`, { signal });
        const found = (stored.messages ?? stored).find((one) => one.id === message);
        if (found && found.status !== "pending") { handle("stored", found); return; }
        if (!found) { handle("error", { code: "gone" }); return; }
      }
      throw new ApiError(0, "broken", "");
    } catch (error) {
      if (error.name === "AbortError" || signal.aborted) return;
      if (!(error instanceof ApiError) || !error.passing) {
        if (error.status === 404 && message && last) { last = ""; await wait(pause, signal); pause = LONGEST_PAUSE; continue; }
        outbox.clear(session);
        handle("error", { code: error.code, detail: error.message, status: error.status });
        return;
      }
      if (!lost) { lost = true; handle("lost", { status: error.status, detail: error.message }); }
      await wait(error.retryAfter ? Math.min(error.retryAfter * 1000, LONGEST_PAUSE) : pause, signal);
      pause = Math.min(pause * 1.7, LONGEST_PAUSE);
    }
  }
}

/** What a `message` event tells: the question and the answer as they are stored, one event each. */
export function assistantOf(data) {
  return data.role === "assistant" ? data : null;
}

export function userOf(data) {
  return data.role === "user" ? data : null;
}

function body({ content, lang, engine, replace, runs }) {
  return { content, lang, engine, ...(replace ? { replace } : {}), ...(runs ? { runs } : {}) };
}

export const stop = (session, message) => call("POST", `/sessions/${session}/messages/${message}/stop`);
