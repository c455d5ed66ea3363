// What the page knows: sessions, the open one, its runs. Views listen to what changes.

import { call, get } from "./api.js";
import { lang } from "./i18n.js";

export const state = { config: {}, sessions: [], query: "", session: null, runs: [], overviews: new Map(), series: new Map(), sending: new Set() };
const listeners = new Map();

export function on(what, listener) {
  if (!listeners.has(what)) listeners.set(what, new Set());
  listeners.get(what).add(listener);
}

export function tell(what, data) {
  for (const listener of listeners.get(what) ?? []) listener(data);
}

// Other tabs of this browser hear what changed.
const channel = typeof BroadcastChannel === "function" ? new BroadcastChannel("metric-assistant") : null;
channel?.addEventListener("message", (event) => tell("elsewhere", event.data));
export const broadcast = (data) => channel?.postMessage(data);

let listed = 0;

/** Fetches the list of sessions; a reply that another one has overtaken is left aside. */
export async function loadSessions() {
  const mine = (listed += 1), query = state.query ? `&q=${encodeURIComponent(state.query)}` : "";
  const body = await get(`/sessions?limit=200${query}`);
  if (mine !== listed) return;
  state.sessions = body.sessions;
  tell("sessions");
}

/** Sessions begun here; one begun elsewhere may still be receiving its first log, until so many milliseconds have passed. */
const made = new Set(), LEFT = 600_000;

/** A session that was begun and holds nothing: no title, no message, no log. */
async function unused() {
  if (state.query) return null;
  const free = (one) => !state.sending.has(one.id) && (made.has(one.id) || Date.now() - new Date(one.updated) > LEFT);
  const empty = state.sessions.find((one) => !one.title && one.n_messages === 0 && one.n_runs === 0 && free(one));
  if (!empty) return null;
  try {
    const session = await get(`/sessions/${empty.id}`); // another tab may have used it since
    return session.title || session.messages?.length || session.runs?.length ? null : session;
  } catch { return null; }
}

/** The open session; made on first need, so that looking around leaves nothing behind; an empty one is used again. */
export async function ensureSession() {
  if (state.session?.id) return state.session;
  if (!state.making) {
    state.making = unused().then((found) => found ?? call("POST", "/sessions", { json: { lang: "auto" } })).then((session) => {
      made.add(session.id);
      state.session = { ...session, messages: session.messages ?? [], runs: session.runs ?? [] };
      tell("opened-new", state.session);
      return state.session;
    }).finally(() => { state.making = null; });
  }
  return state.making;
}

export function forgetRuns() {
  state.runs = [];
  state.overviews.clear();
  state.series.clear();
}

export function setRuns(runs) {
  const before = JSON.stringify(state.runs.map((run) => [run.id, run.name]));
  state.runs = runs;
  if (before !== JSON.stringify(runs.map((run) => [run.id, run.name]))) tell("runs");
}

const base = () => `/sessions/${state.session.id}/runs`;

/** What the panel shows of a run; fetched once a run and language. */
export function overview(run) {
  const key = `${run} ${lang()}`;
  if (!state.overviews.has(key)) {
    const wanted = get(`${base()}/${run}/overview?lang=${lang()}`);
    wanted.catch(() => state.overviews.delete(key));
    state.overviews.set(key, wanted);
  }
  return state.overviews.get(key);
}

/** Steps, lines and values of metrics of a run, `{steps, lines, series}`; what is there already is not fetched again. */
export async function series(run, metrics) {
  const held = state.series.get(run) ?? { steps: [], lines: [], series: {} };
  state.series.set(run, held);
  const missing = metrics.filter((metric) => !(metric in held.series));
  if (missing.length) {
    const query = missing.map((metric) => `metric=${encodeURIComponent(metric)}`).join("&");
    const body = await get(`${base()}/${run}/series?${query}`);
    held.steps = body.steps;
    held.lines = body.lines;
    Object.assign(held.series, body.series);
  }
  return held;
}

const NUMBERS = { NaN: null, Infinity: null, "-Infinity": null };
/** Values as a chart holds them: what is no finite number is a gap. */
export const drawable = (values) => values.map((value) => (typeof value === "number" ? value : NUMBERS[value] ?? null));
