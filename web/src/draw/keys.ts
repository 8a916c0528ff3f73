/** Where the arrow keys lead in a drawing. */
import type { Drawing, Hover } from "./svg";

export interface Place {
  x: number;
  y: number;
  /** What is said there, where the drawing names the places at which keys stop. */
  text?: string;
  /** Which of these it is: several may be at one place. */
  stop?: number | undefined;
}

/** Found once for each drawing, which may have thousands. */
const known = new WeakMap<Drawing, readonly Hover[]>();

const away = (from: Place, to: Place): number => Math.abs(to.y - from.y) + 2 * Math.abs(to.x - from.x);

/** The nearest stop on one side of a place, above or below it. */
function nearest(stops: readonly Hover[], from: Place, side: 1 | -1): number | undefined {
  let best: number | undefined;
  stops.forEach((stop, at) => {
    if ((stop.y - from.y) * side < 1) return;
    const other = best === undefined ? undefined : stops[best];
    if (!other || away(from, stop) < away(from, other)) best = at;
  });
  return best;
}

function amongStops(stops: readonly Hover[], from: Place, key: string): Place | undefined {
  const at = from.stop ?? stops.findIndex((stop) => stop.x === from.x && stop.y === from.y);
  const last = stops.length - 1;
  const keys: Record<string, number> = {
    ArrowRight: Math.min(at + 1, last),
    ArrowLeft: Math.max(at - 1, 0),
    ArrowDown: nearest(stops, from, 1) ?? at,
    ArrowUp: nearest(stops, from, -1) ?? at,
    Home: 0,
    End: last,
  };
  const to = keys[key];
  const stop = to === undefined ? undefined : stops[to];
  return stop && { ...stop, stop: to };
}

/** The place that a key leads to; nothing for keys that lead nowhere. `far` makes steps longer. */
export function keyed(drawing: Drawing, from: Place, key: string, far: boolean): Place | undefined {
  if (drawing.stops) {
    const stops = known.get(drawing) ?? drawing.stops();
    known.set(drawing, stops);
    return amongStops(stops, from, key);
  }
  const { left, right, top, bottom } = drawing.inner;
  const step = ((right - left) / 120) * (far ? 6 : 1);
  const places: Record<string, [number, number]> = {
    ArrowRight: [Math.max(from.x, left) + step, from.y],
    ArrowLeft: [from.x - step, from.y],
    ArrowDown: [from.x, from.y + 8],
    ArrowUp: [from.x, from.y - 8],
    Home: [left, from.y],
    End: [right, from.y],
  };
  const to = places[key];
  return to && { x: Math.min(Math.max(to[0], left), right), y: Math.min(Math.max(to[1], top + 1), bottom - 1) };
}
