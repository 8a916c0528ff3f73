/** Data chunks that waited for each other. */
import { type Chain, chainPicture } from "../../draw/chain";
import { headed, type Kind } from "../kind";

export const chain: Kind<Chain> = {
  draw: chainPicture,
  numbers: (spec) => ({
    columns: ["chunk", "start (ns)", "end (ns)", `${spec.shade} (share)`, ...spec.columns.map(([name, unit]) => headed(name, unit))],
    rows: spec.bars.map((bar, at) => [spec.names[at] ?? "", ...bar]),
  }),
};
