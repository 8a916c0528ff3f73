/** Files that a reader saves: tables as CSV, drawings as SVG and PNG. */
import type { Drawing } from "./svg";

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

/** Saves a drawing as a picture of twice its size in pixels. */
export function toPng(drawing: Pick<Drawing, "svg" | "width" | "height">, name: string): void {
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement("canvas");
    canvas.width = drawing.width * 2;
    canvas.height = drawing.height * 2;
    const context = canvas.getContext("2d");
    if (!context) return;
    context.scale(2, 2);
    context.drawImage(image, 0, 0);
    canvas.toBlob((blob) => {
      if (blob) download(name, blob, "image/png");
    });
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawing.svg)}`;
}
