// What is attached to the next question: files, folders, long pasted text; sent in the background, each a chip.

import { call, upload } from "./api.js";
import { $, announce, h, icon, iconButton } from "./dom.js";
import { bytes, t } from "./i18n.js";
import { ensureSession, setRuns, state, tell } from "./store.js";

const chips = $("chips");
let items = [];
let counter = 0;
let turn = Promise.resolve();

export const waiting = () => items.filter((one) => one.state === "sending" || one.state === "reading");
export const attached = () => items;
/** A question that stood in an attached text. */
export const foundQuestion = () => items.map((one) => one.question).find(Boolean) ?? "";

/** Attaches text (a long paste) or files; several files with paths are one folder. */
export function attach(files, { name = "", note = "" } = {}) {
  const size = files.reduce((sum, file) => sum + file.size, 0);
  const item = { id: (counter += 1), files, size, note, name: name || (files.length === 1 ? files[0].name : t("attach.files", { n: files.length })), state: "sending", progress: 0, runs: [], question: "" };
  items.push(item);
  draw();
  turn = turn.then(() => items.includes(item) && start(item)); // one after another: runs stand in the order they were given
  return item;
}

export function attachText(text) {
  const first = text.split("\n", 1)[0].trim().slice(0, 60);
  return attach([new File([text], t("attach.pastedName"), { type: "text/plain" })], { note: first });
}

async function start(item) {
  item.state = "sending";
  item.error = null;
  draw();
  tell("chips");
  if (state.config.max_body_bytes && item.size > state.config.max_body_bytes) {
    fail(item, t("attach.tooLarge", { size: bytes(item.size), most: bytes(state.config.max_body_bytes) }));
    return;
  }
  try {
    const session = await ensureSession();
    item.session = session.id;
    state.sending.add(session.id);
    const form = new FormData();
    for (const file of item.files) form.append("files", file, file.path || file.webkitRelativePath || file.name);
    const sending = upload(`/sessions/${session.id}/runs`, form, (share) => {
      item.progress = share;
      if (share >= 1 && item.state === "sending") { item.state = "reading"; draw(); } else moved(item);
    });
    item.abort = sending.abort;
    const body = await sending.promise;
    if (!items.includes(item)) return;
    item.runs = body.runs;
    item.skipped = body.skipped ?? [];
    item.question = body.question ?? "";
    item.state = "done";
    if (state.session?.id === item.session) setRuns([...state.runs, ...item.runs]);
    draw();
    announce(t("attach.ready", { name: item.name }));
    tell("attached", item);
  } catch (error) {
    if (error.name !== "AbortError") fail(item, error.message);
  } finally { state.sending.delete(item.session); }
}

function fail(item, text) {
  item.state = "error";
  item.error = text;
  draw();
  announce(`${item.name}: ${text}`);
  tell("attached", item);
}

async function remove(item) {
  items = items.filter((one) => one !== item);
  item.abort?.();
  draw();
  tell("chips");
  if (item.state !== "done" || state.session?.id !== item.session) return;
  try {
    for (const run of item.runs) await call("DELETE", `/sessions/${item.session}/runs/${run.id}`);
    setRuns(state.runs.filter((run) => !item.runs.some((one) => one.id === run.id)));
  } catch { /* it stays in the session's runs, where it can be taken out */ }
}

/** Forgets the chips; the runs stay in the session. */
export function clear() {
  items = items.filter((one) => one.state !== "done");
  draw();
}

/** Another session was opened: what was on its way there goes on, unseen. */
export function leave() {
  items = [];
  draw();
}

function moved(item) {
  const bar = chips.querySelector(`[data-item="${item.id}"] progress`);
  if (bar) bar.value = item.progress;
  const text = chips.querySelector(`[data-item="${item.id}"] .chip-note`);
  if (text) text.textContent = note(item);
}

function note(item) {
  if (item.state === "sending") return t("attach.sending", { share: `${Math.round(item.progress * 100)}%`, size: bytes(item.size) });
  if (item.state === "reading") return t("attach.reading", { size: bytes(item.size) });
  if (item.state === "error") return item.error;
  if (item.skipped?.length) return `${read(item)} · ${t("attach.skipped", { n: item.skipped.length })}`;
  return read(item);
}

function read(item) {
  return item.runs.length > 1 ? t("attach.runs", { n: item.runs.length }) : t("attach.run", { steps: item.runs[0].n_steps, metrics: item.runs[0].n_metrics });
}

export function draw() {
  chips.hidden = !items.length;
  chips.replaceChildren(...items.map((item) => h("div", { class: `chip ${item.state}`, role: "listitem", data: { item: item.id } },
    icon(item.state === "error" ? "alert" : item.state === "done" ? "check" : "doc"),
    h("span", { class: "chip-text" }, h("span", { class: "chip-name", title: item.note || item.name }, item.name), h("span", { class: "chip-note" }, note(item)),
      item.state === "sending" ? h("progress", { max: "1", value: item.progress, "aria-label": t("attach.progress", { name: item.name }) }) : item.state === "reading" ? h("progress", { "aria-label": t("attach.progress", { name: item.name }) }) : null),
    item.state === "error" ? iconButton("redo", t("retry"), () => start(item)) : null,
    iconButton("close", t("attach.remove", { name: item.name }), () => remove(item)))));
}

/** Files of what was dropped, folders opened, their paths kept. */
export async function filesOf(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [[...transfer.files]];
  const loose = [], folders = [];
  for (const entry of entries) {
    if (entry.isDirectory) folders.push(await walk(entry));
    else loose.push(await fileOf(entry));
  }
  return [...loose.map((file) => [file]), ...folders.filter((files) => files.length)];
}

function fileOf(entry) {
  return new Promise((resolve, reject) => entry.file((file) => { file.path = entry.fullPath.replace(/^\//, ""); resolve(file); }, reject));
}

async function walk(entry) {
  const reader = entry.createReader(), files = [];
  for (;;) {
    const batch = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!batch.length) return files;
    for (const one of batch) files.push(...(one.isDirectory ? await walk(one) : [await fileOf(one)]));
  }
}
