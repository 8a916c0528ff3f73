/** The frame of a drawing in a report: size, colours, pointer and keys, legend, its numbers, files. */
import { keyed, type Place } from "../draw/keys";
import { csv, download, fileName, toPng } from "../draw/save";
import type { Drawing, Hover } from "../draw/svg";
import { DARK, LIGHT, stroke, type Theme } from "../draw/theme";
import { type Choice, draw } from "./draw";
import { all, button, make } from "./elements";
import { numbersOf } from "./numbers";
import type { Lines, Spec } from "./spec";
import { hideTip, showTip } from "./tip";

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const print = window.matchMedia("print");

const theme = (): Theme => (dark.matches && !print.matches ? DARK : LIGHT);

const MOST_ROWS = 400;

class Plot {
  private readonly choice: Choice & { off: Set<number> } = { off: new Set(), metric: "u", legend: false };
  private drawing: Drawing | undefined;
  private width = 0;
  private readonly cursor = make("i", "", "cursor");
  private readonly place: HTMLElement;

  constructor(
    figure: HTMLElement,
    private readonly spec: Spec,
  ) {
    this.place = make("div", "", "canvas");
    const { place } = this;
    place.tabIndex = 0;
    place.setAttribute("role", "group");
    place.setAttribute("aria-label", `${spec.title}. Arrow keys read values; the table below has all of them.`);
    const caption = figure.querySelector("figcaption");
    if (caption) caption.after(place);
    else figure.prepend(place);
    if (spec.kind === "lines" && spec.series.length > 1) figure.append(this.legend(spec));
    figure.append(this.tools());
    this.listen();
    new ResizeObserver(() => this.resize()).observe(place);
    this.resize();
  }

  private resize(): void {
    const width = Math.floor(this.place.clientWidth);
    if (width === 0 || width === this.width) return;
    this.width = width;
    this.redraw();
  }

  redraw(): void {
    if (this.width === 0) return;
    this.drawing = draw(this.spec, this.width, theme(), this.choice);
    // Drawings escape every text they are given.
    this.place.innerHTML = this.drawing.svg;
  }

  show(metric: string): void {
    this.choice.metric = metric;
    this.redraw();
  }

  private listen(): void {
    const { place } = this;
    let at: Place = { x: 0, y: 0 };
    const tell = (hover: Hover | null | undefined, y: number): void => {
      if (!hover || !this.drawing) return this.leave();
      at = { x: hover.x, y };
      const box = place.getBoundingClientRect();
      // On paper, and while a window changes, a drawing is not as wide as it was made for.
      const scale = box.width / this.drawing.width;
      showTip(hover.text, box.left + hover.x * scale, box.top + Math.max(y, 20) * scale);
      if (!hover.cursor) return;
      const { top, bottom } = this.drawing.inner;
      place.append(this.cursor);
      Object.assign(this.cursor.style, { left: `${hover.x * scale}px`, top: `${top * scale}px`, height: `${(bottom - top) * scale}px` });
    };
    const read = (x: number, y: number): void => tell(this.drawing?.hover?.(x, y), y);
    place.addEventListener("pointermove", (event) => {
      const box = place.getBoundingClientRect();
      const scale = (this.drawing?.width ?? 1) / box.width;
      read((event.clientX - box.left) * scale, (event.clientY - box.top) * scale);
    });
    place.addEventListener("pointerleave", () => this.leave());
    place.addEventListener("blur", () => this.leave());
    place.addEventListener("keydown", (event) => {
      if (!this.drawing) return;
      if (event.key === "Escape") return this.leave();
      const to = keyed(this.drawing, at, event.key, event.shiftKey);
      if (!to) return;
      event.preventDefault();
      at = to;
      if (to.text === undefined) return read(to.x, to.y);
      tell({ ...to, text: to.text }, to.y);
      // What is told has a place alone, and several stops may be there.
      at = to;
    });
  }

  private leave(): void {
    hideTip();
    this.cursor.remove();
  }

  /** Names of the lines, which switch them off and on. */
  private legend(spec: Lines): HTMLElement {
    const list = make("div", "", "legend");
    spec.series.forEach((one, index) => {
      const entry = button(one.name, () => {
        const shown = this.choice.off.delete(index);
        if (!shown) this.choice.off.add(index);
        entry.setAttribute("aria-pressed", String(shown));
        this.redraw();
      });
      entry.setAttribute("aria-pressed", "true");
      entry.prepend(key(one.colour ?? index));
      list.append(entry);
    });
    return list;
  }

  private tools(): HTMLElement {
    const { spec } = this;
    const name = fileName(spec.title);
    const whole = (): Drawing | undefined => (this.width ? draw(spec, this.width, theme(), { ...this.choice, legend: true }) : undefined);
    const tools = make("div", "", "tools");
    const table = make("div", "", "scroll numbers");
    table.hidden = true;
    const open = button("Table", () => {
      if (table.childElementCount === 0) table.append(tableOf(spec));
      table.hidden = !table.hidden;
      open.setAttribute("aria-expanded", String(!table.hidden));
    });
    open.setAttribute("aria-expanded", "false");
    tools.append(
      open,
      button("CSV", () => {
        const { columns, rows } = numbersOf(spec);
        download(`${name}.csv`, csv(columns, rows));
      }),
      button("SVG", () => download(`${name}.svg`, whole()?.svg ?? "", "image/svg+xml")),
      button("PNG", () => {
        const drawing = whole();
        if (drawing) toPng(drawing, `${name}.png`);
      }),
    );
    const both = document.createDocumentFragment();
    both.append(tools, table);
    const around = make("div");
    around.append(both);
    return around;
  }
}

/** The look of a line in a legend; its colour follows the scheme through the style sheet. */
function key(colour: number): Element {
  const dash = stroke(LIGHT, colour).dash;
  const holder = make("i", "", "key");
  holder.innerHTML = `<svg viewBox="0 0 18 8" aria-hidden="true"><path class="line c${colour % LIGHT.series.length}" stroke-dasharray="${dash}" d="M0 4H18"/></svg>`;
  return holder;
}

function tableOf(spec: Spec): DocumentFragment {
  const { columns, rows } = numbersOf(spec);
  const table = make("table");
  const head = table.createTHead().insertRow();
  for (const column of columns) head.append(make("th", column));
  const body = table.createTBody();
  for (const row of rows.slice(0, MOST_ROWS)) {
    const line = body.insertRow();
    for (const cell of row) line.append(make("td", cell === null ? "–" : String(cell), typeof cell === "number" ? "n" : ""));
  }
  const made = document.createDocumentFragment();
  made.append(table);
  if (rows.length > MOST_ROWS) made.append(make("p", `The first ${MOST_ROWS} of ${rows.length} rows; the CSV file has all.`, "lead"));
  return made;
}

/** Draws every figure of the page that has data, and says how links are coloured when a reader chooses. */
export function plots(): (metric: string, within: Element) => void {
  const made: [HTMLElement, Plot][] = [];
  for (const figure of all<HTMLElement>(document, "figure[data-plot]")) {
    const data = figure.querySelector('script[type="application/json"]');
    made.push([figure, new Plot(figure, JSON.parse(data?.textContent ?? "") as Spec)]);
  }
  const redraw = () => made.forEach(([, plot]) => plot.redraw());
  dark.addEventListener("change", redraw);
  print.addEventListener("change", redraw);
  return (metric, within) => made.filter(([figure]) => within.contains(figure)).forEach(([, plot]) => plot.show(metric));
}
