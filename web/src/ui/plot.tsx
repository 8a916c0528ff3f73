/** The frame of a drawing: size, tooltip, keyboard, its numbers as a table, and downloads. */
import { type KeyboardEvent, type PointerEvent, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { keyed, type Place } from "../draw/keys";
import type { Drawing, Hover } from "../draw/svg";
import { brushed, type Span, zoomed } from "../draw/span";
import type { Theme } from "../draw/theme";
import { csv, download, fileName, toPng } from "../draw/save";
import type { Numbers } from "../pictures/kind";
import { Boundary } from "./boundary";
import { useCursor } from "./cursor";
import { useShown } from "./router";
import { useTheme } from "./theme";
import { range } from "./view-kinds";

interface Props {
  title: string;
  note?: ReactNode;
  draw: (width: number, theme: Theme, span: Span | null) => Drawing;
  /** The name of its horizontal axis, where that can be enlarged: drawings of one name have one cursor and one stretch. */
  axis?: string | undefined;
  /** The drawing as a file, where that has in it what stands beside the drawing here. */
  file?: ((width: number, theme: Theme, span: Span | null) => Drawing) | undefined;
  /** What stands below the drawing. */
  below?: ReactNode;
  /** What `draw` depends on. */
  inputs: readonly unknown[];
  numbers: Numbers;
  /** The address by which a notebook pins this plot: `cdf?job=0`. */
  onPin?: (() => void) | undefined;
}

/** The width of an element, as it changes. */
export function useWidth(): [React.RefObject<HTMLDivElement | null>, number] {
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setWidth(Math.floor(element.clientWidth)));
    observer.observe(element);
    setWidth(Math.floor(element.clientWidth));
    return () => observer.disconnect();
  }, []);
  return [place, width];
}

/** A drawing that fails takes nothing else of the page with it. */
export function Plot(props: Props) {
  return (
    <Boundary what="plot" of={props.inputs}>
      <Drawn {...props} />
    </Boundary>
  );
}

function Drawn(props: Props) {
  const theme = useTheme();
  const [place, width] = useWidth();
  const [hover, setHover] = useState<Hover | null>(null);
  const { axis } = props;
  const [chosen, setSpan] = useShown(axis === "time" ? "span" : `${axis ?? ""}.span`, range);
  const span = axis === undefined ? null : chosen;
  const [linked, point] = useCursor(axis);
  const [brush, setBrush] = useState<{ from: number; to: number } | null>(null);
  const drawing = useMemo(
    () => (width > 0 ? props.draw(width, theme, span) : null),
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [width, theme, span, ...props.inputs],
  );
  const across = axis === undefined ? undefined : drawing?.across;
  const zoom = (by: number, middle: number) => {
    const all = props.draw(width, theme, null);
    if (!drawing || !across || !all.across) return;
    const whole = { from: all.across.back(all.inner.left), to: all.across.back(all.inner.right) };
    setSpan(zoomed(across, drawing.inner, whole, middle, by));
  };
  const name = fileName(props.title);
  const whole = () => (drawing ? (props.file ?? props.draw)(width, theme, span) : null);
  const saveSvg = () => {
    const made = whole();
    if (made) download(`${name}.svg`, made.svg, "image/svg+xml");
  };
  const savePng = () => {
    const made = whole();
    if (made) toPng(made, `${name}.png`);
  };
  // Where a reader is, which between two bars is beside what is said.
  const at = useRef<Place>({ x: 0, y: 0 });
  const move = (event: PointerEvent<HTMLDivElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    at.current = { x: event.clientX - box.left, y: event.clientY - box.top };
    if (brush) return setBrush({ ...brush, to: at.current.x });
    told(drawing?.hover?.(at.current.x, at.current.y) ?? null);
  };
  /** Says what is at a place, here and in the drawings that share the axis. */
  const told = (next: Hover | null) => {
    setHover(next);
    if (across && drawing) point(next && next.x >= drawing.inner.left && next.x <= drawing.inner.right ? across.back(next.x) : undefined);
  };
  const begin = (event: PointerEvent<HTMLDivElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    const x = event.clientX - box.left;
    if (!across || !drawing || event.button !== 0 || event.pointerType === "touch" || x < drawing.inner.left || x > drawing.inner.right) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    setBrush({ from: x, to: x });
  };
  const end = () => {
    const found = brush && across && drawing ? brushed(across, drawing.inner, brush.from, brush.to) : null;
    setBrush(null);
    if (found) setSpan(found);
  };
  const leave = () => {
    told(null);
    setBrush(null);
  };
  const key = (event: KeyboardEvent<HTMLDivElement>) => {
    if (event.key === "Escape") told(null);
    if (!drawing) return;
    if (across && ["+", "=", "-", "0"].includes(event.key)) {
      event.preventDefault();
      const middle = hover?.x ?? (drawing.inner.left + drawing.inner.right) / 2;
      if (event.key === "0") setSpan(null);
      else zoom(event.key === "-" ? 1 / 0.6 : 0.6, middle);
      return;
    }
    const to = keyed(drawing, at.current, event.key, event.shiftKey);
    if (!to) return;
    event.preventDefault();
    at.current = to;
    told(to.text === undefined ? (drawing.hover?.(to.x, to.y) ?? null) : { ...to, text: to.text });
  };
  // Where the pointer is in another drawing of the axis.
  const there = hover === null && across && drawing && linked !== undefined ? across.at(linked) : undefined;
  const inside = there !== undefined && drawing && there >= drawing.inner.left && there <= drawing.inner.right ? there : undefined;
  const said = hover ?? (inside !== undefined && drawing ? (drawing.hover?.(inside, -1) ?? { x: inside, y: drawing.inner.top, text: "", cursor: true }) : null);
  return (
    <figure className="plot">
      <figcaption>
        <b>{props.title}</b>
        {props.note ? <span className="soft"> {props.note}</span> : null}
      </figcaption>
      <div
        ref={place}
        className={across ? "canvas brushed" : "canvas"}
        role="group"
        tabIndex={0}
        aria-label={`${props.title}. Arrow keys read values${axis === undefined ? "" : ", + and − zoom, 0 shows all"}; the table below has all of them.`}
        onPointerDown={begin}
        onPointerUp={end}
        onDoubleClick={() => setSpan(null)}
        onPointerMove={move}
        onPointerLeave={leave}
        onKeyDown={key}
        onBlur={() => told(null)}
      >
        {/* Drawings escape every text they are given. */}
        <div dangerouslySetInnerHTML={{ __html: drawing?.svg ?? "" }} />
        {drawing && brush ? (
          <i className="brush" style={{ left: Math.min(brush.from, brush.to), width: Math.abs(brush.to - brush.from), top: drawing.inner.top, height: drawing.inner.bottom - drawing.inner.top }} />
        ) : null}
        {drawing && said?.cursor ? (
          <i
            className="cursor"
            style={{ left: said.x, top: drawing.inner.top, height: drawing.inner.bottom - drawing.inner.top }}
          />
        ) : null}
        {drawing && said?.text ? <Tip hover={said} width={drawing.width} there={hover === null} /> : null}
      </div>
      {props.below}
      <DrawingTools title={props.title} file={name} numbers={() => props.numbers} onSvg={saveSvg} onPng={savePng} onPin={props.onPin}>
        {across && span ? (
          <button type="button" onClick={() => setSpan(null)}>
            Show all
          </button>
        ) : null}
      </DrawingTools>
    </figure>
  );
}

interface ToolsProps {
  title: string;
  /** The name of files without their endings. */
  file: string;
  numbers: () => Numbers;
  onSvg: () => void;
  onPng: () => void;
  onPin?: (() => void) | undefined;
  /** Buttons of this drawing alone, which stand first. */
  children?: ReactNode;
}

/** The buttons below a drawing, and its numbers once they are asked for. */
export function DrawingTools({ title, file, numbers, onSvg, onPng, onPin, children }: ToolsProps) {
  const [open, setOpen] = useState(false);
  const saveCsv = () => {
    const { columns, rows } = numbers();
    download(`${file}.csv`, csv(columns, rows));
  };
  return (
    <>
      <div className="tools">
        {children}
        <button type="button" onClick={() => setOpen(!open)} aria-expanded={open}>
          Table
        </button>
        <button type="button" onClick={saveCsv}>
          CSV
        </button>
        <button type="button" onClick={onSvg}>
          SVG
        </button>
        <button type="button" onClick={onPng}>
          PNG
        </button>
        {onPin ? (
          <button type="button" onClick={onPin}>
            Pin to notebook
          </button>
        ) : null}
      </div>
      {open ? <NumbersTable title={title} numbers={numbers()} /> : null}
    </>
  );
}

/** What is said of a place; of the pointer in another drawing it is not read aloud. */
export function Tip({ hover, width, there = false }: { hover: Hover; width: number; there?: boolean }) {
  const right = hover.x > width / 2;
  return (
    <div
      className={there ? "tip-there" : "tip"}
      {...(there ? { "aria-hidden": true } : { role: "status" })}
      style={{ top: Math.max(hover.y + 8, 0), ...(right ? { right: width - hover.x + 12 } : { left: hover.x + 12 }) }}
    >
      {hover.text}
    </div>
  );
}

const MOST_ROWS = 500;

function NumbersTable({ title, numbers }: { title: string; numbers: Numbers }) {
  return (
    <div className="scroll numbers" tabIndex={0} role="region" aria-label={`Numbers of ${title}`}>
      <table>
        <thead>
          <tr>
            {numbers.columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {numbers.rows.slice(0, MOST_ROWS).map((row, at) => (
            <tr key={at}>
              {row.map((cell, column) => (
                <td key={column} className={typeof cell === "number" ? "n" : undefined}>
                  {cell ?? "—"}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {numbers.rows.length > MOST_ROWS ? (
        <p className="soft">
          The first {MOST_ROWS} of {numbers.rows.length} rows; the CSV file has all.
        </p>
      ) : null}
    </div>
  );
}
