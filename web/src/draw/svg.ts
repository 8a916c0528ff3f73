/** Parts that drawings share. Every drawing is a plain function of its data, a size and a theme. */
import type { Across } from "./span";
import { css, type Rgb, type Theme } from "./theme";

/** What lies under the pointer: a place in the drawing, and what is said about it. */
export interface Hover {
  x: number;
  y: number;
  text: string;
  /** Draws a line down the whole plot at `x`. */
  cursor?: boolean;
}

export interface Drawing {
  svg: string;
  width: number;
  height: number;
  /** The plot without its axes, in which the cursor moves. */
  inner: { left: number; top: number; right: number; bottom: number };
  hover?: (x: number, y: number) => Hover | null;
  /** Its horizontal axis, where that can be enlarged and shared. */
  across?: Across;
  /** Its marks, at which arrow keys stop one after the other; without them keys go by pixels. */
  stops?: () => Hover[];
}

export const FONT = 'system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif';

export function escape(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

export const round = (value: number): number => Math.round(value * 100) / 100;

export interface TextStyle {
  fill: string;
  anchor?: "start" | "middle" | "end";
  size?: number;
  weight?: number;
  turn?: boolean;
}

export function text(x: number, y: number, content: string, style: TextStyle): string {
  const turn = style.turn ? ` transform="rotate(-90 ${round(x)} ${round(y)})"` : "";
  return (
    `<text x="${round(x)}" y="${round(y)}" fill="${style.fill}" font-size="${style.size ?? 12}"` +
    ` text-anchor="${style.anchor ?? "start"}"${style.weight ? ` font-weight="${style.weight}"` : ""}` +
    `${turn}>${escape(content)}</text>`
  );
}

export function line(x1: number, y1: number, x2: number, y2: number, colour: string, width = 1): string {
  return (
    `<line x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}"` +
    ` stroke="${colour}" stroke-width="${width}"/>`
  );
}

export function rect(
  x: number,
  y: number,
  width: number,
  height: number,
  fill: string,
  more = "",
): string {
  return (
    `<rect x="${round(x)}" y="${round(y)}" width="${round(Math.max(width, 0))}"` +
    ` height="${round(Math.max(height, 0))}" fill="${fill}"${more ? ` ${more}` : ""}/>`
  );
}

/** A document of its own: it names its namespace, size, ground and font. */
export function document(
  width: number,
  height: number,
  theme: Theme,
  title: string,
  content: string,
): string {
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"` +
    ` viewBox="0 0 ${width} ${height}" font-family='${FONT}' role="img"` +
    ` aria-label="${escape(title)}" style="background:${theme.ground}">${content}</svg>`
  );
}

export function swatch(x: number, y: number, colour: Rgb | string): string {
  return rect(x, y, 11, 11, typeof colour === "string" ? colour : css(colour), 'rx="2"');
}

/** About how wide a text is; drawings need no exact measure, and there may be no page to ask. */
export function textWidth(content: string, size = 12): number {
  return content.length * size * 0.56;
}

/** A text no wider than `width`, cut with an ellipsis where it must be. */
export function fit(content: string, width: number, size = 12): string {
  if (textWidth(content, size) <= width) return content;
  const count = Math.max(1, Math.floor(width / (size * 0.56)) - 1);
  return `${content.slice(0, count)}…`;
}
