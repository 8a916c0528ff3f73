/** Where marks go: a canvas when there are many, SVG for files and print. */
import { rect as svgRect, round, text as svgText, type TextStyle } from "./svg";
import { FONT } from "./svg";
import { rgb } from "./theme";

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
      // A path of many thousand lines takes far longer than many short ones.
      for (let first = 0; first < ends.length; first += 4 * 64) {
        context.beginPath();
        for (let at = first; at + 3 < ends.length && at < first + 4 * 64; at += 4) {
          context.moveTo(ends[at] ?? 0, ends[at + 1] ?? 0);
          context.lineTo(ends[at + 2] ?? 0, ends[at + 3] ?? 0);
        }
        context.stroke();
      }
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

/** A colour as `#rrggbb` or `rgb(r g b)`. */
function parts(colour: string): readonly [number, number, number] {
  if (colour.startsWith("#")) return rgb(colour);
  const [r = 0, g = 0, b = 0] = (colour.match(/\d+/g) ?? []).map(Number);
  return [r, g, b];
}

/** A pen whose lines are one pixel wide: a canvas takes a second for 20,000 lines, this a tenth of it. */
export function rasterPen(context: CanvasRenderingContext2D, width: number, height: number): Pen {
  const plain = canvasPen(context);
  const scale = context.getTransform().a;
  const [w, h] = [Math.round(width * scale), Math.round(height * scale)];
  let image: ImageData | undefined;
  // Lines come first; what is drawn over them needs them in the canvas.
  const flush = () => {
    if (image) context.putImageData(image, 0, 0);
    image = undefined;
  };
  return {
    lines(ends, colour, thickness) {
      image ??= context.getImageData(0, 0, w, h);
      const { data } = image;
      const [r, g, b] = parts(colour);
      const share = Math.min(0.25 + thickness * 0.3, 0.9);
      for (let at = 0; at + 3 < ends.length; at += 4) {
        let [x, y] = [(ends[at] as number) * scale + 0.5, (ends[at + 1] as number) * scale + 0.5];
        const [across, down] = [(ends[at + 2] as number) * scale + 0.5 - x, (ends[at + 3] as number) * scale + 0.5 - y];
        const steps = Math.min(Math.ceil(Math.max(Math.abs(across), Math.abs(down))), 40_000);
        const [dx, dy] = [across / steps, down / steps];
        for (let step = 0; step <= steps; step += 1) {
          if (x >= 0 && x < w && y >= 0 && y < h) {
            const pixel = ((y | 0) * w + (x | 0)) * 4;
            data[pixel] = (data[pixel] as number) + (r - (data[pixel] as number)) * share;
            data[pixel + 1] = (data[pixel + 1] as number) + (g - (data[pixel + 1] as number)) * share;
            data[pixel + 2] = (data[pixel + 2] as number) + (b - (data[pixel + 2] as number)) * share;
          }
          x += dx;
          y += dy;
        }
      }
    },
    boxes(sides, fill, edge) {
      flush();
      plain.boxes(sides, fill, edge);
    },
    text(x, y, content, style) {
      flush();
      plain.text(x, y, content, style);
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
