// The first thing a visitor sees: what to do, and an example one click away.

import { call, get } from "./api.js";
import { $, h, icon, toast } from "./dom.js";
import { t } from "./i18n.js";
import { ensureSession, setRuns, state, tell } from "./store.js";

/** The empty conversation. */
export function welcome() {
  const attached = state.runs.length > 0;
  const node = h("div", { class: "welcome" }, h("h2", {}, t(attached ? "welcome.ready" : "welcome.title")), h("p", { class: "lead" }, t(attached ? "welcome.readyText" : "welcome.text")));
  if (attached) {
    node.append(questions([1, 2, 3].map((n) => t(`welcome.any${n}`)), (text) => tell("ask", text)));
    return node;
  }
  node.append(
    h("div", { class: "ways" },
      h("button", { type: "button", class: "way", on: { click: () => $("ask-text").focus() } }, icon("copy"), h("span", {}, h("strong", {}, t("welcome.paste")), h("small", {}, t("welcome.pasteText")))),
      h("button", { type: "button", class: "way", on: { click: () => $("files").click() } }, icon("clip"), h("span", {}, h("strong", {}, t("welcome.files")), h("small", {}, t("welcome.filesText"))))),
    h("h3", {}, t("welcome.example")), questions([1, 2, 3].map((n) => t(`welcome.question${n}`)), start));
  return node;
}

function questions(texts, act) {
  return h("div", { class: "examples" }, texts.map((text) => h("button", { type: "button", class: "example", on: { click: () => act(text) } }, h("span", {}, text), icon("next"))));
}

/** Attaches the example run and asks about it. */
async function start(question) {
  for (const button of document.querySelectorAll(".example")) button.disabled = true;
  try {
    const [session, example] = await Promise.all([ensureSession(), get("/page/example")]);
    const body = await call("POST", `/sessions/${session.id}/runs`, { json: { text: example.text, name: example.name } });
    setRuns([...state.runs, ...body.runs]);
    tell("ask", question);
  } catch (error) {
    toast(error.message, { error: true });
    for (const button of document.querySelectorAll(".example")) button.disabled = false;
  }
}
