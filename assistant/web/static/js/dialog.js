// Small dialogs: a question with yes and no, and a line of text.

import { h } from "./dom.js";
import { t } from "./i18n.js";

function ask(title, text, body, yes, danger) {
  return new Promise((resolve) => {
    const id = `dialog-${Math.random().toString(36).slice(2)}`;
    const node = h("dialog", { class: "dialog", "aria-labelledby": id }, h("form", { method: "dialog" }, h("h2", { id }, title), text ? h("p", {}, text) : null, body,
      h("div", { class: "edit-row" }, h("button", { type: "submit", value: "no", class: "pill", formnovalidate: true }, t("cancel")), h("button", { type: "submit", value: "yes", class: danger ? "pill danger" : "pill strong" }, yes))));
    let allowed = false;
    node.addEventListener("submit", async (event) => {
      if (allowed || !body?.allow || event.submitter?.value !== "yes") return;
      event.preventDefault();
      allowed = await body.allow();
      if (allowed) node.close("yes");
      else body.querySelector("input").focus();
    });
    node.addEventListener("close", () => { node.remove(); resolve(node.returnValue === "yes"); });
    node.addEventListener("keydown", (event) => event.stopPropagation());
    document.body.append(node);
    node.showModal();
    (body?.querySelector?.("input") ?? node.querySelector("button[value=yes]")).focus();
  });
}

/** Whether the user agrees. */
export const agree = (title, text, yes, danger = false) => ask(title, text, null, yes, danger);

/**
 * A line that the user types, or `null`. Enter agrees.
 *
 * With `most`, longer texts are said to be too long and not taken; with `act`, the dialog stays until that succeeds, so
 * that what was typed is still there when it fails.
 */
export async function line(title, text, { value = "", type = "text", yes = t("save"), most = Infinity, act = null } = {}) {
  const input = h("input", { class: "field", type, value, "aria-label": title, "aria-describedby": "dialog-note", autocomplete: "off", spellcheck: "false" });
  const note = h("p", { class: "field-note", id: "dialog-note", role: "status" });
  const node = h("div", {}, input, note);
  const say = (words) => { note.textContent = words; input.setAttribute("aria-invalid", String(Boolean(words))); };
  const fits = () => {
    const size = [...input.value.trim()].length;
    say(size > most ? t("tooLong", { n: size, most }) : "");
    return size <= most;
  };
  input.addEventListener("input", fits);
  node.allow = async () => {
    if (!fits()) return false;
    if (!act || !input.value.trim()) return true;
    try { await act(input.value.trim()); return true; } catch (error) { say(error.message); return false; }
  };
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.isComposing) { event.preventDefault(); input.closest("form").querySelector("button[value=yes]").click(); }
  });
  setTimeout(() => input.select());
  return (await ask(title, text, node, yes, false)) ? input.value : null;
}
