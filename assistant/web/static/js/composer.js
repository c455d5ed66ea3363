// The box at the bottom: typing, drafts, pasting, attaching, sending.

import { attach, attached, attachText, clear, filesOf, foundQuestion, leave, waiting } from "./attachments.js";
import { busy, editLast, halt, send } from "./conversation.js";
import { $, announce, openMenu, toast } from "./dom.js";
import { recall, remember, t } from "./i18n.js";
import { on, state } from "./store.js";

const form = $("ask"), text = $("ask-text"), files = $("files"), folder = $("folder"), drop = $("drop");
let queued = false;
/** What was refused because an attachment failed, so that the hint tells it. */
let refused = false;

const draftName = () => `draft:${state.session?.id ?? "new"}`;

function grow() {
  text.style.height = "auto";
  text.style.height = `${Math.min(text.scrollHeight, Math.round(innerHeight * 0.4))}px`;
}

function draw() {
  const working = busy();
  $("stop").hidden = !working;
  $("send").hidden = working;
  $("send").disabled = !working && !text.value.trim() && !attached().some((one) => one.state !== "error");
  refused &&= failed().length > 0;
  $("ask-hint").textContent = refused ? t("ask.failed") : queued ? t("ask.queued") : t("ask.hint");
  $("ask-hint").classList.toggle("refused", refused);
}

export function setText(value) {
  text.value = value;
  remember(draftName(), value || null);
  grow();
  draw();
}

const failed = () => attached().filter((one) => one.state === "error");

async function submit() {
  if (busy()) return;
  if (waiting().length) { queued = true; draw(); announce(t("ask.queued")); return; }
  queued = false;
  if (failed().length) { // never asked as if it had been read
    refused = true;
    draw();
    toast(t("ask.failedChip", { name: failed()[0].name }), { error: true });
    return;
  }
  const content = text.value.trim() || foundQuestion() || (attached().length ? t("ask.everything") : "");
  if (!content) return;
  const name = draftName();
  text.value = "";
  remember(name, null);
  clear();
  grow();
  draw();
  await send(content);
}

function paste(event) {
  const data = event.clipboardData;
  if (data.files.length) { event.preventDefault(); for (const file of data.files) attach([file]); return; }
  const pasted = data.getData("text/plain");
  if (new Blob([pasted]).size > (state.config.paste_bytes ?? 20_000)) {
    event.preventDefault();
    attachText(pasted);
  }
}

function installDropping() {
  let depth = 0;
  const carries = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  addEventListener("dragenter", (event) => { if (carries(event)) { depth += 1; drop.hidden = false; } });
  addEventListener("dragleave", (event) => { if (carries(event) && (depth -= 1) <= 0) { depth = 0; drop.hidden = true; } });
  addEventListener("dragover", (event) => { if (carries(event)) event.preventDefault(); });
  addEventListener("drop", async (event) => {
    if (!carries(event)) return;
    event.preventDefault();
    depth = 0;
    drop.hidden = true;
    for (const group of await filesOf(event.dataTransfer)) attach(group, group.length > 1 ? { name: (group[0].path ?? "").split("/")[0] } : {});
  });
}

export function drawEngines() {
  const select = $("engine"), model = state.config.model;
  $("engine-box").hidden = !model;
  const chosen = recall("engine") ?? "auto";
  select.replaceChildren(...[["auto", t("engine.auto")], ["llm", model ?? ""], ["offline", t("engine.offline")]].map(([value, label]) => new Option(label, value, false, value === chosen)));
  state.engine = model ? chosen : "auto";
}

export function install() {
  form.addEventListener("submit", (event) => { event.preventDefault(); submit(); });
  $("stop").addEventListener("click", () => halt());
  text.addEventListener("input", () => { remember(draftName(), text.value || null); grow(); draw(); });
  text.addEventListener("paste", paste);
  text.addEventListener("keydown", (event) => {
    if (event.isComposing || event.keyCode === 229) return; // an input method is being used
    if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); submit(); }
    else if (event.key === "ArrowUp" && !text.value && !busy() && editLast()) event.preventDefault();
  });
  form.querySelector(".ask-box").addEventListener("click", (event) => { if (event.target === event.currentTarget) text.focus(); });
  $("attach").addEventListener("click", (event) => openMenu(event.currentTarget, [
    { icon: "doc", label: t("attach.addFiles"), act: () => files.click() },
    { icon: "clip", label: t("attach.addFolder"), act: () => folder.click() },
  ]));
  files.addEventListener("change", () => { for (const file of files.files) attach([file]); files.value = ""; text.focus(); });
  folder.addEventListener("change", () => {
    const chosen = [...folder.files];
    if (chosen.length) attach(chosen, { name: (chosen[0].webkitRelativePath || chosen[0].name).split("/")[0] });
    folder.value = "";
  });
  $("engine").addEventListener("change", () => { state.engine = $("engine").value; remember("engine", state.engine); });
  installDropping();
  on("busy", draw);
  on("chips", draw);
  on("ask", (content) => send(content));
  on("unsent", (content) => { if (!text.value) setText(content); });
  on("attached", () => {
    draw();
    const question = foundQuestion();
    if (question && !text.value && !queued) setText(question);
    if (queued && !waiting().length) submit();
  });
  on("opened-new", () => { // what was typed before there was a session goes with it
    remember(draftName(), text.value || null);
    remember("draft:new", null);
  });
  on("opened", () => { leave(); text.value = recall(draftName()) ?? ""; queued = false; grow(); draw(); });
  draw();
}
