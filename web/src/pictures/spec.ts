/** The data of a picture, of any kind. Some come from the server, as `crates/tenter/src/report/pictures` writes them. */
import type { Drawing } from "../draw/svg";
import type { Theme } from "../draw/theme";
import type { Choice, Kind, Numbers } from "./kind";
import * as KINDS from "./kinds";

type Kinds = typeof KINDS;
/** Data of one kind. */
export type SpecOf<K extends keyof Kinds> = Kinds[K] extends Kind<infer S> ? S & { kind: K } : never;
export type Spec = { [K in keyof Kinds]: SpecOf<K> }[keyof Kinds];

// TypeScript does not see that a kind takes the data of its own kind.
const kindOf = (spec: Spec): Kind<Spec> => KINDS[spec.kind] as Kind<Spec>;

export const draw = (spec: Spec, width: number, theme: Theme, choice: Choice): Drawing => kindOf(spec).draw(spec, width, theme, choice);

export const numbersOf = (spec: Spec): Numbers => kindOf(spec).numbers(spec);

/** The name of the horizontal axis that a picture shares with others; of a time it is that of the trial. */
export const axisOf = (spec: Spec): string | undefined => kindOf(spec).axis?.(spec).toLowerCase().replaceAll(/\W+/g, "-");
