/** A fabric that can be moved, enlarged and asked; keys +, −, 0 and the arrows do it, too. */
import { type KeyboardEvent, type PointerEvent, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { cableAt, drawFabric, type FabricPicture, fitted, half, nodeAt, place as placeOf, type View } from "../draw/fabric";
import { layout, type Link, type Node } from "../draw/layout";
import { withUnit } from "../draw/numbers";
import { canvasPen, rasterPen, svgPen } from "../draw/pen";
import { document as svgDocument, type Hover } from "../draw/svg";
import { download, fileName } from "../draw/save";
import type { Numbers } from "../pictures/kind";
import { DrawingTools, Tip, useWidth } from "./plot";
import { useTheme } from "./theme";

interface Props {
  title: string;
  nodes: Node[];
  links: Link[];
  height: number;
  loads?: Float32Array | undefined;
  jobs?: number[] | undefined;
  /** What is said of a cable: of its links, in both directions. */
  sayLinks?: (links: number[]) => string;
  sayNode?: (node: Node) => string;
  /** What the picture shows, for those who do not see it; its cables unless given. */
  numbers?: () => Numbers;
  tools?: ReactNode;
}

/** Cables beyond which lines are drawn pixel by pixel. */
const MANY = 2500;

/** A frame around a node. */
function Mark({ picture, view, at }: { picture: FabricPicture; view: View; at: number }) {
  const [x, y] = placeOf(picture, view, at);
  const [w, h] = half(picture, view, at);
  return <i className="mark" style={{ left: x - w - 3, top: y - h - 3, width: 2 * w + 6, height: 2 * h + 6 }} />;
}

function cablesOf(nodes: Node[], links: Link[]): Numbers {
  const names = new Map(nodes.map((node) => [node.id, node.name]));
  return { columns: ["from", "to", "rate_bps"], rows: links.map((link) => [names.get(link.a) ?? "", names.get(link.b) ?? "", link.rate_bps]) };
}

export function FabricView(props: Props) {
  const theme = useTheme();
  const [place, width] = useWidth();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [view, setView] = useState<View>(() => fitted(0, props.height));
  const [hover, setHover] = useState<Hover | null>(null);
  const [marked, setMarked] = useState<number>();
  const held = useRef<{ x: number; y: number } | null>(null);
  const arranged = useMemo(() => layout(props.nodes, props.links), [props.nodes, props.links]);
  const { nodes, links, loads, jobs, height } = props;
  const picture = useMemo<FabricPicture>(() => ({ nodes, links, layout: arranged, loads, jobs }), [nodes, links, arranged, loads, jobs]);
  const shown = useMemo<View>(() => ({ ...view, width, height }), [view, width, height]);
  useEffect(() => {
    const element = canvas.current;
    if (!element || width === 0) return undefined;
    const frame = requestAnimationFrame(() => {
      const scale = window.devicePixelRatio || 1;
      element.width = width * scale;
      element.height = height * scale;
      const context = element.getContext("2d", { willReadFrequently: true });
      if (!context) return;
      context.scale(scale, scale);
      context.fillStyle = theme.ground;
      context.fillRect(0, 0, width, height);
      const pen = arranged.cables.length > MANY ? rasterPen(context, width, height) : canvasPen(context);
      drawFabric(pen, picture, shown, theme);
    });
    return () => cancelAnimationFrame(frame);
  }, [picture, shown, theme, arranged, width, height]);
  const zoom = (by: number, x: number, y: number) =>
    setView((last) => {
      const next = Math.min(Math.max(last.zoom * by, 1), 60);
      if (next === 1) return fitted(width, props.height);
      const ratio = next / last.zoom;
      return { ...last, zoom: next, left: x - (x - last.left) * ratio, top: y - (y - last.top) * ratio };
    });
  useEffect(() => {
    const element = canvas.current;
    if (!element) return undefined;
    // React's own wheel handler cannot keep the page from scrolling.
    const wheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey && document.activeElement !== element.parentElement) return;
      event.preventDefault();
      const box = element.getBoundingClientRect();
      zoom(event.deltaY < 0 ? 1.25 : 0.8, event.clientX - box.left, event.clientY - box.top);
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  });
  const ask = (x: number, y: number) => {
    const node = nodeAt(picture, shown, x, y);
    setMarked(node);
    if (node !== undefined) {
      const one = props.nodes[node];
      setHover(one ? { x, y, text: props.sayNode?.(one) ?? one.name } : null);
      return;
    }
    const cable = arranged.cables[cableAt(picture, shown, x, y) ?? -1];
    if (!cable) return setHover(null);
    const [a, b] = [props.nodes[cable.a]?.name, props.nodes[cable.b]?.name];
    const rate = withUnit(props.links[cable.links[0] ?? 0]?.rate_bps ?? 0, "bit/s");
    const first = `${a} – ${b}: ${cable.links.length > 1 ? `${cable.links.length} × ` : ""}${rate}`;
    setHover({ x, y, text: [first, props.sayLinks?.(cable.links) ?? ""].filter(Boolean).join("\n") });
  };
  const move = (event: PointerEvent<HTMLDivElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const from = held.current;
    if (from && event.buttons === 1) {
      held.current = { x, y };
      if (view.zoom > 1) setView((last) => ({ ...last, left: last.left + x - from.x, top: last.top + y - from.y }));
      return;
    }
    ask(x, y);
  };
  const key = (event: KeyboardEvent<HTMLDivElement>) => {
    const [x, y] = [width / 2, props.height / 2];
    const step: Record<string, [number, number]> = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    const by = step[event.key];
    if (event.key === "+" || event.key === "=") zoom(1.4, x, y);
    else if (event.key === "-") zoom(1 / 1.4, x, y);
    else if (event.key === "0") setView(fitted(width, props.height));
    else if (by && view.zoom > 1) setView((last) => ({ ...last, left: last.left + by[0], top: last.top + by[1] }));
    else return;
    event.preventDefault();
  };
  const name = fileName(props.title);
  const numbers = props.numbers ?? (() => cablesOf(props.nodes, props.links));
  const saveSvg = () => {
    const { pen, content } = svgPen();
    drawFabric(pen, picture, shown, theme);
    download(`${name}.svg`, svgDocument(width, props.height, theme, props.title, content()), "image/svg+xml");
  };
  return (
    <figure className="plot">
      <div
        ref={place}
        className="canvas"
        role="group"
        tabIndex={0}
        aria-label={`${props.title}: ${props.nodes.length} nodes, ${props.links.length} cables. + and − enlarge, arrows move, 0 shows all.`}
        onPointerDown={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          held.current = { x: event.clientX - box.left, y: event.clientY - box.top };
        }}
        onPointerUp={() => {
          held.current = null;
        }}
        onPointerMove={move}
        onPointerLeave={() => {
          held.current = null;
          setHover(null);
          setMarked(undefined);
        }}
        onKeyDown={key}
      >
        <canvas ref={canvas} style={{ height: props.height, touchAction: "pan-y" }} aria-hidden="true" />
        {marked === undefined ? null : <Mark picture={picture} view={shown} at={marked} />}
        {hover ? <Tip hover={hover} width={width} /> : null}
      </div>
      <DrawingTools title={props.title} file={name} numbers={numbers} onSvg={saveSvg} onPng={() => canvas.current?.toBlob((blob) => blob && download(`${name}.png`, blob))}>
        <button type="button" aria-label="Enlarge" onClick={() => zoom(1.5, width / 2, props.height / 2)}>
          +
        </button>
        <button type="button" aria-label="Reduce" onClick={() => zoom(1 / 1.5, width / 2, props.height / 2)}>
          −
        </button>
        <button type="button" onClick={() => setView(fitted(width, props.height))}>
          Show all
        </button>
        {props.tools}
      </DrawingTools>
    </figure>
  );
}
