import type { Row } from "../api/types";
import { withUnit } from "../draw/numbers";

/** A moment in the reader's own time zone, to the second. */
export function moment(seconds: number | null | undefined): string {
  if (typeof seconds !== "number") return "—";
  const date = new Date(seconds * 1000);
  const two = (value: number) => String(value).padStart(2, "0");
  return (
    `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ` +
    `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
  );
}

export function count(value: number, one: string, many = `${one}s`): string {
  return `${new Intl.NumberFormat("en").format(value)} ${value === 1 ? one : many}`;
}

/** A table as CSV (RFC 4180). A text that a spreadsheet would take for a formula is quoted with '. */
export function csv(columns: string[], rows: readonly (readonly unknown[])[]): string {
  const cell = (value: unknown): string => {
    if (value === null || value === undefined) return "";
    let text = String(value);
    if (typeof value === "string" && /^[=+\-@\t]/.test(text) && Number.isNaN(Number(text))) text = `'${text}`;
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [columns, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

/** Hands a file to the browser's downloads. */
export function download(name: string, content: Blob | string, kind = "text/csv;charset=utf-8"): void {
  const blob = typeof content === "string" ? new Blob([content], { type: kind }) : content;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** A name for a file from any text. */
export function fileName(text: string): string {
  return text.replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^-+|-+$/g, "") || "tenter";
}

/** The job completion time of a row, in milliseconds as in the printed tables. */
export function jct(row: Row): string {
  if (row.jct_text) return row.jct_text.includes(" ") ? row.jct_text : `${row.jct_text} ms`;
  return typeof row.jct_ns === "number" ? withUnit(row.jct_ns, "ns", 5) : "—";
}

export const hundredths = (value: number | null | undefined): string => (typeof value === "number" ? value.toFixed(2) : "—");
