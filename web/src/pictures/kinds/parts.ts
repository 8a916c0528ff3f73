/** What a whole is made of. */
import { type Parts, partsPicture, shares } from "../../draw/parts";
import { headed, type Kind } from "../kind";

export const parts: Kind<Parts> = {
  draw: (spec, width, theme, { legend }) => partsPicture(spec, width, theme, legend),
  numbers: (spec) => {
    const share = shares(spec.parts);
    return {
      columns: ["part", headed("value", spec.unit), "share (%)"],
      rows: spec.parts.map(([name, value], at) => [name, value, Number(((share[at] ?? 0) * 100).toPrecision(6))]),
    };
  },
};
