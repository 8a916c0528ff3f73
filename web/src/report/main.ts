/** What moves and is drawn in a report; tables and texts are there without it. */
import { all } from "./elements";
import { plots } from "./plot";
import { tables } from "./tables";

/** One of several panels at a time. */
function panels(): void {
  for (const select of all<HTMLSelectElement>(document, "select[data-panels]")) {
    const prefix = select.dataset["panels"] ?? "";
    const update = () => {
      for (const option of select.options) {
        const panel = document.getElementById(`${prefix}-${option.value}`);
        if (panel) panel.hidden = option.value !== select.value;
      }
    };
    select.addEventListener("change", update);
    // A browser may bring back what was chosen before the page was loaded again.
    update();
  }
}

/** Buttons that say what the colour of links shows. */
function metrics(show: (metric: string, within: Element) => void): void {
  for (const group of all(document, ".controls[role=group]")) {
    const section = group.closest("section");
    const buttons = all(group, "button[data-metric]");
    for (const button of buttons) {
      button.addEventListener("click", () => {
        const metric = button.getAttribute("data-metric") ?? "u";
        for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
        if (section) show(metric, section);
      });
    }
  }
}

tables();
panels();
metrics(plots());
