// The middle of the page: the messages of the open session, asking, streaming, editing, stopping.

import { call, download, get, problemText, save } from "./api.js";
import { $, announce, calm, h, icon, toast } from "./dom.js";
import { t } from "./i18n.js";
import { AnswerView, questionNode, rendered } from "./message.js";
import { assistantOf, follow, outbox, stop, userOf } from "./stream.js";
import { broadcast, ensureSession, forgetRuns, loadSessions, on, setRuns, state, tell } from "./store.js";
import { suggestions } from "./suggest.js";
import { welcome } from "./welcome.js";

const thread = $("thread"), scroll = $("scroll"), FAR = 0.75;
let current = null; // the answer under way: {view, abort, session}
let shown = new Map();
let opening = 0, drawing = 0, heard = 0;

export const busy = () => current !== null;
const actions = { edit: startEdit, again: askAgain, report: saveReport };

/** Shows a session, or with none the welcome; follows an answer that is under way. */
export async function open(id) {
  const turn = (opening += 1);
  detach();
  if (!id) {
    state.session = null;
    forgetRuns();
    tell("runs");
    tell("opened");
    drawWelcome();
    return;
  }
  if (state.session?.id !== id) {
    thread.replaceChildren(h("p", { class: "thinking" }, t("loading")));
    state.session = { id, messages: [], runs: [] };
    forgetRuns();
  }
  let session;
  try {
    session = await get(`/sessions/${id}`);
  } catch (error) {
    if (turn !== opening) return;
    if (error.status === 404) { toast(t("sessions.gone"), { error: true }); location.hash = ""; return; }
    thread.replaceChildren(failure(error, () => open(id)));
    return;
  }
  if (turn !== opening) return;
  state.session = session;
  setRuns(session.runs ?? []);
  tell("opened");
  await draw(session.messages ?? []);
  if (turn !== opening) return;
  const pending = (session.messages ?? []).find((one) => one.role === "assistant" && one.status === "pending");
  const unsent = outbox.take(id);
  if (pending) attach(pending);
  else if (unsent) await send(unsent.content, unsent);
  toQuestion(false);
}

function failure(error, retry) {
  return h("div", { class: "notice error", role: "alert" }, icon("alert"), h("div", {}, h("p", {}, error.message), h("button", { type: "button", class: "pill", on: { click: retry } }, icon("redo"), t("retry"))));
}

async function draw(messages) {
  const turn = (drawing += 1);
  const answers = messages.filter((one) => one.answer);
  const html = await rendered(answers.map((one) => one.answer));
  if (turn !== drawing) return;
  shown = new Map();
  const nodes = messages.map((one) => {
    if (one.role === "user") return questionNode(one, actions);
    const view = new AnswerView(one, actions);
    shown.set(one.id, view);
    if (one.answer) view.finish(one.answer, html[answers.indexOf(one)]);
    else {
      view.text = one.content ?? "";
      if (one.status === "stopped") view.stopped();
      else if (one.status === "failed") view.failed(one.error?.detail ?? "");
      else view.waiting();
    }
    return view.node;
  });
  thread.replaceChildren(...nodes);
  if (!messages.length) drawWelcome();
  else drawSuggestions();
}

function drawWelcome() {
  drawing += 1;
  thread.replaceChildren(welcome());
}
on("runs", () => { if (!current && thread.querySelector(".welcome")) drawWelcome(); });

/** Asks in the open session (made now if there is none). */
export async function send(content, options = {}) {
  if (current) return;
  drawing += 1;
  const draft = { content, lang: "auto", engine: state.engine ?? "auto", replace: options.replace, key: options.key };
  const view = new AnswerView({ status: "pending", content: "", draft }, actions);
  const question = questionNode({ content, created: new Date().toISOString() }, actions);
  current = { view, abort: new AbortController(), question };
  tell("busy");
  thread.querySelector(".welcome")?.remove();
  thread.querySelector(".suggestions")?.remove();
  if (options.replace) {
    let node = thread.querySelector(`[data-id="${CSS.escape(options.replace)}"]`);
    while (node) { const next = node.nextElementSibling; node.remove(); node = next; }
  }
  thread.append(question, view.node);
  view.node.setAttribute("aria-busy", "true");
  view.waiting();
  toQuestion(true);
  try {
    const session = await ensureSession();
    current.session = session.id;
    await run(session.id, { ask: draft });
  } catch (error) {
    view.failed(error.message);
    finished();
    tell("unsent", content);
  }
}

/** Follows an answer that was under way before: after a reload, or from another tab. */
function attach(message) {
  const view = shown.get(message.id) ?? new AnswerView(message, actions);
  view.node.setAttribute("aria-busy", "true");
  view.text = "";
  view.waiting();
  current = { view, abort: new AbortController(), session: state.session.id, message: message.id };
  tell("busy");
  run(state.session.id, { message: message.id });
}

function run(session, what) {
  const mine = current, { view } = mine;
  return follow(session, {
    ...what,
    signal: mine.abort.signal,
    handle: (event, data) => {
      if (event === "message") {
        const answer = assistantOf(data), user = userOf(data);
        if (user) hold(session, user, what.ask?.replace);
        if (answer) { mine.message = answer.id; view.started(answer.id); view.message.reply_to = answer.reply_to; shown.set(answer.id, view); hold(session, answer); }
        if (user && mine.question) { const node = questionNode(user, actions); mine.question.replaceWith(node); mine.question = node; }
        if (answer) broadcast({ session, kind: "asked" });
      } else if (event === "delta") view.delta(typeof data === "string" ? data : data.text ?? "");
      else if (event === "fact") view.fact(data);
      else if (event === "step") view.step(data);
      else if (event === "lost") {
        view.note(data.status === 429 ? t("answer.queued") : data.status === 503 && data.detail ? data.detail : t("answer.reconnecting"));
        if (data.status === 0) tell("lost");
      }
      else if (event === "back") view.note("");
      else if (event === "again") view.text = "";
      else if (event === "answer") conclude(mine, data);
      else if (event === "stored") stored(mine, data);
      else if (event === "stopped") { view.stopped(); finished(); }
      else if (event === "error") {
        view.failed(problemText(data));
        finished();
        refresh();
      }
    },
  });
}

/** Keeps the session's messages as they are stored; what the server lists of them is fetched later. */
function hold(session, message, replaced) {
  heard += 1;
  if (state.session?.id !== session) return;
  const all = state.session.messages ?? [], cut = all.findIndex((one) => one.id === replaced);
  const kept = cut < 0 ? all : all.slice(0, cut);
  state.session.messages = kept.some((one) => one.id === message.id) ? kept.map((one) => (one.id === message.id ? { ...one, ...message } : one)) : [...kept, message];
}

async function conclude(mine, answer) {
  const { view } = mine;
  const status = answer.status === "stopped" ? "stopped" : "done";
  if (answer.message_id) { view.started(answer.message_id); shown.set(answer.message_id, view); }
  view.message.status = status;
  const [html] = await rendered([answer]);
  view.finish(answer, html);
  if (answer.message_id) hold(mine.session, view.message);
  announce(`${t("answer.ready")} ${answer.verdict?.summary ?? ""}`);
  if (current === mine) finished();
  if (state.session?.id === mine.session) await refresh();
}

async function stored(mine, message) {
  Object.assign(mine.view.message, message);
  if (message.answer) { await conclude(mine, { ...message.answer, message_id: message.id, status: message.status }); return; }
  mine.view.text = message.content || mine.view.text;
  if (message.status === "stopped") mine.view.stopped();
  else mine.view.failed(message.error?.detail ?? "");
  finished();
}

function finished() {
  const mine = current;
  if (!mine) return;
  current = null;
  mine.view.node.removeAttribute("aria-busy");
  tell("busy");
  drawSuggestions();
  if (mine.session) broadcast({ session: mine.session, kind: "answered" });
}

/** Runs and the list of sessions may have changed with an answer: its title, a log in what was asked. */
async function refresh() {
  const id = state.session?.id, before = heard;
  if (!id) return;
  try {
    const session = await get(`/sessions/${id}`);
    if (state.session?.id !== id) return;
    state.session = heard === before ? session : { ...session, messages: state.session.messages };
    setRuns(session.runs ?? []);
    tell("titled");
    await loadSessions();
  } catch { /* told by what comes next */ }
}

/** Stops the answer under way; what was shown stays. */
export async function halt() {
  const mine = current;
  if (!mine) return false;
  if (!mine.message) { mine.abort.abort(); mine.view.stopped(); outbox.clear(mine.session ?? ""); finished(); return true; }
  try {
    await stop(mine.session, mine.message);
  } catch (error) { if (error.status !== 404 && error.status !== 409) toast(error.message, { error: true }); }
  mine.abort.abort();
  try {
    const body = await get(`/sessions/${mine.session}/messages`);
    const found = (body.messages ?? body).find((one) => one.id === mine.message);
    if (found?.answer && found.status === "done") { current = mine; await conclude(mine, { ...found.answer, message_id: found.id }); return true; }
    if (found) mine.view.text = found.content || mine.view.text;
  } catch { /* what was shown is enough */ }
  mine.view.stopped();
  announce(t("answer.stopped"));
  if (current === mine) finished();
  return true;
}

function detach() {
  current?.abort.abort();
  if (current) { current = null; tell("busy"); }
}

// --- editing ---------------------------------------------------------------------------------------

function startEdit(message, node) {
  if (current) return;
  const area = h("textarea", { class: "edit-text", value: message.content, "aria-label": t("message.edit"), rows: String(Math.min(12, message.content.split("\n").length + 1)) });
  const cancel = () => { form.replaceWith(node); node.querySelector("button.edit")?.focus(); };
  const submit = () => {
    const text = area.value.trim();
    if (!text) return;
    form.replaceWith(node);
    send(text, { replace: message.id });
  };
  const form = h("form", { class: "message question editing", data: { id: message.id }, on: { submit: (event) => { event.preventDefault(); submit(); } } }, area,
    h("div", { class: "edit-row" }, h("span", { class: "hint" }, t("message.editHint")), h("button", { type: "button", class: "pill", on: { click: cancel } }, t("cancel")), h("button", { type: "submit", class: "pill strong" }, t("ask.send"))));
  area.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { event.stopPropagation(); cancel(); }
    else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); submit(); }
  });
  node.replaceWith(form);
  area.focus();
  area.setSelectionRange(area.value.length, area.value.length);
}

/** ↑ in an empty box: the last question. */
export function editLast() {
  const node = [...thread.querySelectorAll(".question")].at(-1);
  const last = node && (state.session?.messages ?? []).find((one) => one.id === node.dataset.id);
  if (!last) return false;
  startEdit(last, node);
  return true;
}

function askAgain(message) {
  if (current) return;
  if (!message.id && message.draft) { // it never reached the server
    const node = thread.querySelector('.answer[data-status="failed"][data-id=""]');
    node?.previousElementSibling?.remove();
    node?.remove();
    send(message.draft.content, { replace: message.draft.replace });
    return;
  }
  const messages = state.session?.messages ?? [];
  const question = messages.find((one) => one.id === message.reply_to) ?? messages[messages.findIndex((one) => one.id === message.id) - 1] ?? [...messages].reverse().find((one) => one.role === "user");
  if (question) send(question.content, { replace: question.id });
  else if (message.content) send(message.content);
}

async function saveReport() {
  try {
    await download(`/sessions/${state.session.id}/export?format=html`, "report.html");
  } catch (error) { toast(error.message, { error: true }); }
}

export async function exportSession(format) {
  const name = (state.session?.title || "session").replace(/[^\p{L}\p{N}._-]+/gu, "-").slice(0, 60);
  try {
    if (format === "json") save(JSON.stringify(await get(`/sessions/${state.session.id}/export`), null, 2), `${name}.json`);
    else await download(`/sessions/${state.session.id}/export?format=${format}`, `${name}.${format}`);
  } catch (error) { toast(error.message, { error: true }); }
}

// --- what to ask next ------------------------------------------------------------------------------

async function drawSuggestions() {
  thread.querySelector(".suggestions")?.remove();
  if (current || !state.session?.messages?.length && !shown.size) return;
  const asked = [...thread.querySelectorAll(".question .bubble-text")].map((node) => node.textContent.trim());
  const last = [...shown.values()].reverse().find((view) => view.message.answer)?.message.answer;
  const list = await suggestions(last, asked);
  if (current || !list.length || thread.querySelector(".suggestions") || thread.querySelector(".welcome")) return;
  thread.append(h("div", { class: "suggestions", role: "group", "aria-label": t("suggest.label") }, list.map((text) => h("button", { type: "button", class: "suggestion", on: { click: () => send(text) } }, text, icon("next")))));
  room();
}
on("runs", () => { if (!current && shown.size) drawSuggestions(); });

// --- scrolling -------------------------------------------------------------------------------------

const atEnd = () => scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 120;
export function toEnd(smooth) {
  scroll.scrollTo({ top: scroll.scrollHeight, behavior: smooth && !calm() ? "smooth" : "auto" });
}

/** Room below the last answer, so that its question can stand at the top of the screen and stays there while it grows. */
function room() {
  const last = [...thread.querySelectorAll(".question")].at(-1);
  thread.style.paddingBottom = "";
  if (!last) return;
  const below = thread.getBoundingClientRect().bottom - last.getBoundingClientRect().top;
  const short = scroll.clientHeight - below - 8;
  if (short > 0) thread.style.paddingBottom = `${short + 32}px`;
}

function toQuestion(smooth) {
  const last = [...thread.querySelectorAll(".question")].at(-1);
  if (!last) return;
  room();
  const top = last.getBoundingClientRect().top - scroll.getBoundingClientRect().top + scroll.scrollTop - 8;
  scroll.scrollTo({ top, behavior: smooth && !calm() ? "smooth" : "auto" });
}
/** The button shows where more than most of a screen lies below; the room left under the last answer does not count. */
const more = () => {
  const below = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight - (parseFloat(thread.style.paddingBottom) || 0);
  $("to-end").hidden = below < FAR * scroll.clientHeight;
};
scroll.addEventListener("scroll", more, { passive: true });
new ResizeObserver(() => { room(); more(); }).observe(scroll);
$("to-end").addEventListener("click", () => toEnd(true));
on("grown", () => { room(); more(); });

// --- other tabs ------------------------------------------------------------------------------------

async function catchUp() {
  const id = state.session?.id;
  if (!id || current || document.querySelector(".editing")) return;
  try {
    const session = await get(`/sessions/${id}`);
    if (state.session?.id !== id || current) return;
    const mark = (list) => JSON.stringify(list.map((one) => [one.id, one.status]));
    const same = mark(session.messages ?? []) === mark(state.session.messages ?? []);
    state.session = session;
    setRuns(session.runs ?? []);
    if (same) return;
    const near = atEnd();
    await draw(session.messages ?? []);
    const pending = session.messages.find((one) => one.role === "assistant" && one.status === "pending");
    if (pending && !current) attach(pending);
    if (near) toEnd(false);
  } catch { /* the next look will tell */ }
}
on("elsewhere", (data) => { if (data.session === state.session?.id) catchUp(); loadSessions().catch(() => {}); });
document.addEventListener("visibilitychange", () => { if (!document.hidden) catchUp(); });

/** Answers told anew in the page's other language: their frame, not their text. */
export async function relabel() {
  if (state.session?.id && !current) { await draw(state.session.messages ?? []); }
  else if (!state.session && !current) drawWelcome();
}
