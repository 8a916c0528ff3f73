/** Tables of a report: sorted by a click on a head, filtered by a word, saved as CSV. */
import { csv, download, fileName } from "../draw/save";
import { all, button, make } from "./elements";

/** Shorter tables need no filter. */
const FILTERED = 8;

/** The number that a cell begins with; the text where it has none. */
function valueOf(text: string): number | string {
  const number = /^[+-]?[\d,]*\.?\d+(e[+-]?\d+)?/i.exec(text.replace("−", "-"));
  if (!number) return text;
  const value = Number(number[0].replaceAll(",", ""));
  const unit = /^[\s\u00a0]*([a-zA-Zµ]+)/.exec(text.slice(number[0].length))?.[1] ?? "";
  return Number.isFinite(value) ? value * (SIZES[unit] ?? 1) : text;
}

/** What units count as, so that cells of one column may have several. */
const SIZES: Record<string, number> = {
  ns: 1, µs: 1e3, us: 1e3, ms: 1e6, s: 1e9,
  B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12,
};

function compare(a: string, b: string): number {
  const [one, other] = [valueOf(a), valueOf(b)];
  if (typeof one === "number" && typeof other === "number") return one - other;
  // What is not there is at the end, whatever is asked for first.
  if (typeof one === "number") return -1;
  if (typeof other === "number") return 1;
  return one.localeCompare(other, "en", { numeric: true });
}

const textOf = (row: HTMLTableRowElement, column: number): string => (row.cells[column]?.textContent ?? "").trim();

function sortable(table: HTMLTableElement): void {
  const head = table.tHead?.rows[table.tHead.rows.length - 1];
  const body = table.tBodies[0];
  if (!head || !body || body.rows.length < 2) return;
  const original = [...body.rows];
  // A table with cells over several rows or columns keeps its order.
  if (original.some((row) => [...row.cells].some((cell) => cell.colSpan > 1 || cell.rowSpan > 1))) return;
  let [sorted, direction] = [-1, 1];
  [...head.cells].forEach((cell, column) => {
    const sorter = button("", () => {
      if (sorted !== column) [sorted, direction] = [column, 1];
      else if (direction === 1) direction = -1;
      else [sorted, direction] = [-1, 1];
      const rows = [...original];
      if (sorted >= 0) rows.sort((a, b) => direction * compare(textOf(a, sorted), textOf(b, sorted)));
      body.append(...rows);
      table.classList.toggle("sorted", sorted >= 0);
      [...head.cells].forEach((other, at) => {
        if (at === sorted) other.setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
        else other.removeAttribute("aria-sort");
      });
    });
    sorter.className = "sorter";
    sorter.append(...cell.childNodes);
    cell.append(sorter);
  });
}

function tools(table: HTMLTableElement, name: string): HTMLElement {
  const made = make("div", "", "tools");
  const body = table.tBodies[0];
  if (body && body.rows.length >= FILTERED) {
    const filter = make("input");
    filter.type = "search";
    filter.placeholder = "Filter rows";
    filter.setAttribute("aria-label", `Filter the rows of ${name}`);
    filter.addEventListener("input", () => {
      const word = filter.value.trim().toLowerCase();
      let shown = 0;
      for (const row of body.rows) {
        row.hidden = word !== "" && !(row.textContent ?? "").toLowerCase().includes(word);
        if (!row.hidden) shown += 1;
      }
      table.classList.toggle("filtered", word !== "");
      count.textContent = word ? `${shown} of ${body.rows.length} rows` : "";
    });
    const count = make("span", "", "lead");
    count.setAttribute("role", "status");
    made.append(filter, count);
  }
  made.append(
    button("CSV", () => {
      const head = [...(table.tHead?.rows[table.tHead.rows.length - 1]?.cells ?? [])];
      const columns = head.map((cell) => cell.innerText.replace(/\s*\n\s*/g, " ").trim());
      const rows = [...(body?.rows ?? [])].filter((row) => !row.hidden);
      download(`${fileName(name)}.csv`, csv(columns, rows.map((row) => [...row.cells].map((_, at) => textOf(row, at)))));
    }),
  );
  return made;
}

export function tables(): void {
  for (const table of all<HTMLTableElement>(document, "table")) {
    if (!table.tHead || (table.tBodies[0]?.rows.length ?? 0) < 2) continue;
    const section = table.closest("section");
    const heads = all<HTMLElement>(section ?? document, "h2, h3").filter((head) => head.compareDocumentPosition(table) & Node.DOCUMENT_POSITION_FOLLOWING);
    const name = (heads.at(-1)?.firstChild?.textContent ?? "table").trim();
    sortable(table);
    (table.closest(".scroll") ?? table).after(tools(table, name));
  }
}
