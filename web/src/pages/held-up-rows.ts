/** What “What held it up” lists of a chain. */
import type { HeldUpCollective } from "../api/types";
import { count } from "../ui/format";

type Links = HeldUpCollective["links"];

/** Half a picosecond, in ns: the simulator counts whole ones, so that what is less is rounding. */
const NOTHING_NS = 0.0005;

/** Whether congestion control held any sender of a chain. */
export const isHeld = (one: Pick<HeldUpCollective, "held_by_rate_ns">): boolean => one.held_by_rate_ns >= NOTHING_NS;

/** All chunks of a short chain; of a longer one those that lost time, of which the server sends the worst. */
export function lossRows(one: Pick<HeldUpCollective, "links" | "chunks">): { links: Links; title: string } {
  if (one.links.length >= one.chunks) return { links: one.links, title: "The chunks" };
  const links = one.links.filter((link) => [link.rank_wait_ns, link.nic_wait_ns, link.held_by_rate_ns, link.lost_ns].some((lost) => lost >= NOTHING_NS));
  if (links.length === one.links.length) return { links, title: `The ${links.length} chunks that lost most` };
  if (links.length === 0) return { links, title: "No chunk lost time" };
  const others = count(one.chunks - links.length, "chunk");
  return { links, title: `${links.length === 1 ? "The chunk" : `The ${links.length} chunks`} that lost time; the other ${others} lost none` };
}

/** A time that is a difference of others; what rounding leaves of equal ones is none. */
export const difference = (ns: number): number => (Math.abs(ns) < NOTHING_NS ? 0 : ns);
