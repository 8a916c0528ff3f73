/** Where marks go: a canvas when there are many, SVG for files and print. */
import { rect as svgRect, round, text as svgText, type TextStyle } from "./svg";
import { FONT } from "./svg";

export interface Pen {
  /** Many lines of one colour and width, as x1, y1, x2, y2 one after the other. */
  lines: (ends: number[], colour: string, width: number) => void;
  /** Many boxes of one colour, as x, y, width, height one after the other. */
  boxes: (sides: number[], fill: string, edge?: string) => void;
  text: (x: number, y: number, content: string, style: TextStyle) => void;
}

export function canvasPen(context: CanvasRenderingContext2D): Pen {
  return {
    lines(ends, colour, width) {
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.beginPath();
      for (let at = 0; at + 3 < ends.length; at += 4) {
        context.moveTo(ends[at] ?? 0, ends[at + 1] ?? 0);
        context.lineTo(ends[at + 2] ?? 0, ends[at + 3] ?? 0);
      }
      context.stroke();
    },
    boxes(sides, fill, edge) {
      context.fillStyle = fill;
      if (edge) {
        context.strokeStyle = edge;
        context.lineWidth = 1;
      }
      for (let at = 0; at + 3 < sides.length; at += 4) {
        const [x, y, w, h] = [sides[at] ?? 0, sides[at + 1] ?? 0, sides[at + 2] ?? 0, sides[at + 3] ?? 0];
        context.fillRect(x, y, w, h);
        if (edge) context.strokeRect(x, y, w, h);
      }
    },
    text(x, y, content, style) {
      context.fillStyle = style.fill;
      context.font = `${style.weight ?? 400} ${style.size ?? 12}px ${FONT}`;
      context.textAlign = style.anchor === "middle" ? "center" : style.anchor === "end" ? "right" : "left";
      context.fillText(content, x, y);
    },
  };
}

export function svgPen(): { pen: Pen; content: () => string } {
  const parts: string[] = [];
  return {
    pen: {
      lines(ends, colour, width) {
        let path = "";
        for (let at = 0; at + 3 < ends.length; at += 4) {
          const [x1, y1, x2, y2] = [ends[at], ends[at + 1], ends[at + 2], ends[at + 3]].map((one) => round(one ?? 0));
          path += `M${x1} ${y1}L${x2} ${y2}`;
        }
        parts.push(`<path d="${path}" fill="none" stroke="${colour}" stroke-width="${width}"/>`);
      },
      boxes(sides, fill, edge) {
        for (let at = 0; at + 3 < sides.length; at += 4) {
          const [x, y, w, h] = [sides[at] ?? 0, sides[at + 1] ?? 0, sides[at + 2] ?? 0, sides[at + 3] ?? 0];
          parts.push(svgRect(x, y, w, h, fill, edge ? `stroke="${edge}"` : ""));
        }
      },
      text: (x, y, content, style) => parts.push(svgText(x, y, content, style)),
    },
    content: () => parts.join(""),
  };
}
