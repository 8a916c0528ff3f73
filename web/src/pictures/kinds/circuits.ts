/** A tree with its circuits. */
import { type Carried, type CircuitPicture, circuits as drawn, nameOf } from "../../draw/circuits";
import type { Kind, Numbers } from "../kind";

export const circuits: Kind<CircuitPicture> = { draw: drawn, numbers };

/** Each way of each link, then the links within boxes, and the ports without a circuit. */
function numbers({ boxes, bundles }: CircuitPicture): Numbers {
  const ways = (kind: string, from: string, to: string, { count, rate_bps, busy, bytes }: Carried) =>
    ([0, 1] as const).map((way) => [kind, way === 0 ? from : to, way === 0 ? to : from, count, rate_bps, busy ? busy[way] * 100 : null, busy ? bytes[way] : null]);
  const name = (at: number) => nameOf(boxes[at]);
  const within = boxes.flatMap((box) => (box.inner ? ways("within", `${nameOf(box)}, lower`, `${nameOf(box)}, upper`, box.inner) : []));
  const dark = boxes.flatMap((box) => (box.dark ? [["dark ports", nameOf(box), "", box.dark, null, null, null]] : []));
  return {
    columns: ["kind", "from", "to", "links", "rate (bit/s)", "busy (%)", "bytes"],
    rows: [...bundles.flatMap((bundle) => ways(bundle.kind, name(bundle.ends[0]), name(bundle.ends[1]), bundle)), ...within, ...dark],
  };
}
