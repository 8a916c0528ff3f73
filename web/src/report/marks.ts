/** Pictures that are part of the text of a report: marks that say something, and files of them. */
import { csv, download, fileName, toPng } from "../draw/save";
import { all, button, make } from "./elements";
import { hideTip, showTip } from "./tip";

function hide(): void {
  hideTip();
  for (const mark of all(document, ".m.on")) mark.classList.remove("on");
}

function listen(svg: SVGSVGElement): void {
  let at = -1;
  svg.addEventListener("pointermove", (event) => {
    const mark = event.target instanceof Element ? event.target.closest(".m") : null;
    const text = mark?.getAttribute("data-t");
    if (text) showTip(text, event.clientX, event.clientY);
    else hide();
  });
  svg.addEventListener("pointerleave", hide);
  svg.addEventListener("blur", hide);
  svg.addEventListener("keydown", (event) => {
    const list = all(svg, ".m");
    const places: Record<string, number> = {
      ArrowRight: Math.min(at + 1, list.length - 1),
      ArrowLeft: Math.max(at - 1, 0),
      Home: 0,
      End: list.length - 1,
    };
    if (event.key === "Escape") return hide();
    const place = places[event.key];
    if (place === undefined) return;
    event.preventDefault();
    at = place;
    const mark = list[at];
    if (!mark) return;
    hide();
    mark.classList.add("on");
    const box = mark.getBoundingClientRect();
    showTip(mark.getAttribute("data-t") ?? "", box.left + box.width / 2, box.bottom - 8);
  });
}

const LOOKS = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-opacity",
  "font-size",
  "font-family",
  "paint-order",
  "visibility",
  "opacity",
];

/** A picture without its page: what the style sheet says of each element is in the element. */
function alone(svg: SVGSVGElement): { svg: string; width: number; height: number } {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const originals = all<SVGElement>(svg, "*");
  all<SVGElement>(copy, "*").forEach((element, at) => {
    const original = originals[at];
    if (!original) return;
    const style = getComputedStyle(original);
    element.setAttribute("style", LOOKS.map((look) => `${look}:${style.getPropertyValue(look)}`).join(";"));
    for (const name of element.getAttributeNames()) if (name.startsWith("data-")) element.removeAttribute(name);
  });
  const { width, height } = svg.viewBox.baseVal;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  copy.setAttribute("style", `background:${getComputedStyle(document.body).backgroundColor}`);
  return { svg: new XMLSerializer().serializeToString(copy), width, height };
}

function tools(svg: SVGSVGElement): HTMLElement {
  const name = fileName(svg.getAttribute("aria-label") ?? "picture");
  const made = make("div", "", "tools");
  const rows = () => all(svg, ".m").map((mark) => (mark.getAttribute("data-t") ?? "").split("\n"));
  made.append(
    button("CSV", () => {
      const said = rows();
      const most = Math.max(...said.map((row) => row.length));
      const columns = Array.from({ length: most }, (_, at) => (at === 0 ? "what" : `value ${at}`));
      download(`${name}.csv`, csv(columns, said));
    }),
    button("SVG", () => download(`${name}.svg`, alone(svg).svg, "image/svg+xml")),
    button("PNG", () => toPng(alone(svg), `${name}.png`)),
  );
  return made;
}

export function marks(): void {
  for (const svg of all<SVGSVGElement>(document, "svg[data-marks]")) {
    listen(svg);
    svg.after(tools(svg));
  }
}
