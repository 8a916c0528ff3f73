/** How evenly the hash spreads queue pairs over the links between switches. */
import { plain } from "../../draw/numbers";
import { DRAWN } from "../kinds/bars";
import type { TablePicture } from "../table-picture";

/** Rows that the server answers at most. */
const LIMIT = 10_000;
const title = "Queue pairs per link between switches";

export const pairs: TablePicture = {
  title,
  part: "ports",
  table: "ports",
  query: { columns: "node,node_name,port,peer_name,queue_pairs", where: "queue_pairs > 0", limit: LIMIT },
  folded: true,
  picture: (rows, { hosts }) => {
    // Nodes are numbered NICs first.
    const isNic = (node: unknown) => Number(node) < (hosts ?? 0);
    const nics = new Set(rows.filter(([node]) => isNic(node)).map(([, name]) => name));
    const between = rows.filter(([node, , , peer]) => !isNic(node) && !nics.has(peer ?? null));
    if (between.length === 0) return null;
    const bars = between.map(([, name, port, peer, count]) => ({ name: `${name}:${port} → ${peer}`, value: Number(count) }));
    const counts = bars.map((bar) => bar.value);
    const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length;
    const range = `${plain(Math.min(...counts))} to ${plain(Math.max(...counts))}, mean ${plain(mean)}`;
    const all = rows.length < LIMIT ? "the table has all" : `of the first ${plain(LIMIT)} ports`;
    const cut = bars.length > DRAWN ? `; the first ${DRAWN} of ${bars.length} links, ${all}` : "";
    return { lead: range + cut, plot: { kind: "bars", title, bars, value: { label: "Queue pairs" } } };
  },
};
