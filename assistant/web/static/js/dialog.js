// Small dialogs: a question with yes and no, and a line of text.

import { h } from "./dom.js";
import { t } from "./i18n.js";

function ask(title, text, body, yes, danger) {
  return new Promise((resolve) => {
    const id = `dialog-${Math.random().toString(36).slice(2)}`;
    const node = h("dialog", { class: "dialog", "aria-labelledby": id }, h("form", { method: "dialog" }, h("h2", { id }, title), text ? h("p", {}, text) : null, body,
      h("div", { class: "edit-row" }, h("button", { type: "submit", value: "no", class: "pill", formnovalidate: true }, t("cancel")), h("button", { type: "submit", value: "yes", class: danger ? "pill danger" : "pill strong" }, yes))));
    node.addEventListener("close", () => { node.remove(); resolve(node.returnValue === "yes"); });
    node.addEventListener("keydown", (event) => event.stopPropagation());
    document.body.append(node);
    node.showModal();
    (body?.querySelector?.("input") ?? node.querySelector("button[value=yes]")).focus();
  });
}

/** Whether the user agrees. */
export const agree = (title, text, yes, danger = false) => ask(title, text, null, yes, danger);

/** A line that the user types, or `null`. Enter agrees. */
export async function line(title, text, { value = "", type = "text", yes = t("save") } = {}) {
  const input = h("input", { class: "field", type, value, "aria-label": title, autocomplete: "off", spellcheck: "false" });
  const node = h("div", {}, input);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.isComposing) { event.preventDefault(); input.closest("form").querySelector("button[value=yes]").click(); }
  });
  setTimeout(() => input.select());
  return (await ask(title, text, node, yes, false)) ? input.value : null;
}
