/** The frame of a drawing: size, tooltip, keyboard, its numbers as a table, and downloads. */
import { type KeyboardEvent, type PointerEvent, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { keyed, type Place } from "../draw/keys";
import type { Drawing, Hover } from "../draw/svg";
import type { Theme } from "../draw/theme";
import { csv, download, fileName, toPng } from "../draw/save";
import { Boundary } from "./boundary";
import { useTheme } from "./theme";

export interface Numbers {
  columns: string[];
  rows: readonly (readonly (string | number | null)[])[];
}

interface Props {
  title: string;
  note?: ReactNode;
  draw: (width: number, theme: Theme) => Drawing;
  /** The drawing as a file, where that has in it what stands beside the drawing here. */
  file?: ((width: number, theme: Theme) => Drawing) | undefined;
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
  const [open, setOpen] = useState(false);
  const drawing = useMemo(
    () => (width > 0 ? props.draw(width, theme) : null),
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [width, theme, ...props.inputs],
  );
  const name = fileName(props.title);
  const whole = () => (drawing ? (props.file ?? props.draw)(width, theme) : null);
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
    setHover(drawing?.hover?.(at.current.x, at.current.y) ?? null);
  };
  const key = (event: KeyboardEvent<HTMLDivElement>) => {
    if (event.key === "Escape") setHover(null);
    if (!drawing) return;
    const to = keyed(drawing, at.current, event.key, event.shiftKey);
    if (!to) return;
    event.preventDefault();
    at.current = to;
    setHover(to.text === undefined ? (drawing.hover?.(to.x, to.y) ?? null) : { ...to, text: to.text });
  };
  return (
    <figure className="plot">
      <figcaption>
        <b>{props.title}</b>
        {props.note ? <span className="soft"> {props.note}</span> : null}
      </figcaption>
      <div
        ref={place}
        className="canvas"
        role="group"
        tabIndex={0}
        aria-label={`${props.title}. Arrow keys read values; the table below has all of them.`}
        onPointerMove={move}
        onPointerLeave={() => setHover(null)}
        onKeyDown={key}
        onBlur={() => setHover(null)}
      >
        {/* Drawings escape every text they are given. */}
        <div dangerouslySetInnerHTML={{ __html: drawing?.svg ?? "" }} />
        {drawing && hover?.cursor ? (
          <i
            className="cursor"
            style={{ left: hover.x, top: drawing.inner.top, height: drawing.inner.bottom - drawing.inner.top }}
          />
        ) : null}
        {drawing && hover ? <Tip hover={hover} width={drawing.width} /> : null}
      </div>
      {props.below}
      <div className="tools">
        <button type="button" onClick={() => setOpen(!open)} aria-expanded={open}>
          Table
        </button>
        <button type="button" onClick={() => download(`${name}.csv`, csv(props.numbers.columns, props.numbers.rows))}>
          CSV
        </button>
        <button type="button" onClick={saveSvg}>
          SVG
        </button>
        <button type="button" onClick={savePng}>
          PNG
        </button>
        {props.onPin ? (
          <button type="button" onClick={props.onPin}>
            Pin to notebook
          </button>
        ) : null}
      </div>
      {open ? <NumbersTable title={props.title} numbers={props.numbers} /> : null}
    </figure>
  );
}

export function Tip({ hover, width }: { hover: Hover; width: number }) {
  const right = hover.x > width / 2;
  return (
    <div
      className="tip"
      role="status"
      style={{ top: Math.max(hover.y + 8, 0), ...(right ? { right: width - hover.x + 12 } : { left: hover.x + 12 }) }}
    >
      {hover.text}
    </div>
  );
}

const MOST_ROWS = 500;

export function NumbersTable({ title, numbers }: { title: string; numbers: Numbers }) {
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
