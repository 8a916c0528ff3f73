/** The JSON Schema of scenarios, as a form reads it. */
import type { Value } from "./edit";

export interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  anyOf?: Schema[];
  oneOf?: Schema[];
  const?: Value;
  default?: Value;
  description?: string;
  enum?: Value[];
  examples?: Value[];
  items?: Schema;
  maximum?: number;
  minimum?: number;
  pattern?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  type?: string | string[];
}

/** What a value may be: words, mappings, lists, or a text or number. */
export interface Forms {
  words: Value[];
  mappings: Schema[];
  lists: Schema[];
  scalars: Schema[];
}

export function resolve(schema: Schema, root: Schema): Schema {
  const name = schema.$ref?.replace("#/$defs/", "");
  const target = name === undefined ? undefined : root.$defs?.[name];
  if (!target) return schema;
  const rest = Object.entries(schema).filter(([key]) => key !== "$ref");
  return { ...resolve(target, root), ...Object.fromEntries(rest) };
}

export function forms(schema: Schema, root: Schema): Forms {
  const found: Forms = { words: [], mappings: [], lists: [], scalars: [] };
  const visit = (one: Schema) => {
    const part = resolve(one, root);
    const choices = part.anyOf ?? part.oneOf;
    if (choices) choices.forEach(visit);
    else if (part.enum) found.words.push(...part.enum);
    else if (part.const !== undefined) found.words.push(part.const);
    else if (part.properties ?? part.type === "object") found.mappings.push(part);
    else if (part.items ?? part.type === "array") found.lists.push(part);
    else found.scalars.push(part);
  };
  visit(schema);
  return found;
}

function isMapping(value: Value | undefined): value is Record<string, Value> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const constant = (schema: Schema | undefined): Value | undefined => schema?.const;

/** The keys whose words choose among the forms of a mapping: `kind`, or `collective` and `algorithm`. */
export function choosers(mappings: Schema[]): string[] {
  const names = Object.keys(mappings[0]?.properties ?? {});
  return names
    .filter((name) => mappings.length > 1 && mappings.some((one) => constant(one.properties?.[name]) !== undefined))
    .sort((a, b) => rank(a) - rank(b));
}

const rank = (name: string): number => ["kind", "collective", "algorithm"].indexOf(name) + 1 || 9;

/** The form of a mapping that a value has: the one with most of its words, and least that do not fit. */
export function chosen(mappings: Schema[], value: Value | undefined, root: Schema): Schema | undefined {
  if (mappings.length <= 1 || !isMapping(value)) return mappings[0];
  const score = (one: Schema): number => {
    let points = 0;
    for (const name of choosers(mappings)) {
      const word = constant(one.properties?.[name]);
      const written = value[name];
      if (written === undefined) points -= one.required?.includes(name) ? 2 : 0;
      else if (word === written) points += 100;
      else if (word !== undefined) points -= 100;
      else if (!fits(one.properties?.[name], written, root)) points -= 100;
    }
    for (const name of Object.keys(value)) if (!one.properties?.[name]) points -= 1;
    return points;
  };
  return mappings.reduce((best, one) => (score(one) > score(best) ? one : best));
}

function fits(schema: Schema | undefined, value: Value, root: Schema): boolean {
  if (!schema) return false;
  const may = forms(schema, root);
  if (isMapping(value)) return may.mappings.length > 0;
  if (Array.isArray(value)) return may.lists.length > 0;
  return may.words.includes(value) || may.scalars.length > 0;
}

/** The words of a chooser that go with those chosen before it. */
export function words(mappings: Schema[], name: string, value: Value | undefined): Value[] {
  const earlier = choosers(mappings).filter((other) => rank(other) < rank(name));
  const found = mappings
    .filter((one) =>
      earlier.every((other) => {
        const written = isMapping(value) ? value[other] : undefined;
        return written === undefined || constant(one.properties?.[other]) === written;
      }),
    )
    .map((one) => constant(one.properties?.[name]))
    .filter((word): word is Value => word !== undefined);
  return [...new Set(found)];
}

/** What the description says about a default, an origin and the meaning. */
export function said(schema: Schema): { meaning: string; origin: string; fallback: string } {
  const text = schema.description ?? "";
  const fallback = /\bDefault: (.*?)\.?$/s.exec(text)?.[1] ?? "";
  const before = text.replace(/\s*Default: .*$/s, "");
  const origin = /\bOrigin: (.*?)\.?$/s.exec(before)?.[1] ?? "";
  return { meaning: before.replace(/\s*Origin: .*$/s, ""), origin, fallback };
}
