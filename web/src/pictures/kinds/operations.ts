/** Operations of ranks over time. */
import { type Operations, operationsPicture, readBar } from "../../draw/operations";
import type { Kind } from "../kind";

export const operations: Kind<Operations> = {
  draw: operationsPicture,
  numbers: (spec) => ({
    columns: ["rank", "lane", "start (ns)", "duration (ns)", "operations", "kind", "operation", "peer rank", "payload (bytes)", "critical path"],
    rows: spec.bars.map((bar) => {
      const { rank, lane, start, took, count, single } = readBar(spec, bar);
      const own = single ? [single.kind, single.operation, single.peer, single.bytes, single.critical ? "yes" : "no"] : [null, null, null, null, null];
      return [rank, lane, start, took, count, ...own];
    }),
  }),
};
