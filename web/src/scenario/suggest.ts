/** What may be written at a place of a scenario, and what stands there means: from its JSON Schema. */
import { isMap, isScalar, isSeq, type Document } from "yaml";
import { get, type Key, parse, type Path, pathAt, type Value } from "./edit";
import { choosers, chosen, forms, said, type Schema, words } from "./schema";

export interface Suggestion {
  /** What is written. */
  text: string;
  kind: "key" | "value";
  /** A few words beside it: `required`, or its default. */
  note: string;
  meaning: string;
}

export interface Suggested {
  /** Where the word that is being written begins. */
  from: number;
  list: Suggestion[];
}

/** Stands for the word that is being written. */
const HERE = "tenter_here";

interface Place {
  /** The mapping, list or key that the word is part of. */
  path: Path;
  kind: "key" | "value";
  /** The scenario without the word. */
  value: Value | undefined;
}

/** The path to the word, as a key or as a value. */
function find(document: Document.Parsed): { path: Path; kind: "key" | "value" } | undefined {
  const visit = (node: unknown, path: Path): { path: Path; kind: "key" | "value" } | undefined => {
    if (isScalar(node)) return node.value === HERE ? { path, kind: "value" } : undefined;
    if (isSeq(node)) return first(node.items.map((item, at): [unknown, Key] => [item, at]), path);
    if (!isMap(node)) return undefined;
    if (node.items.some((pair) => isScalar(pair.key) && pair.key.value === HERE)) return { path, kind: "key" };
    return first(node.items.map((pair): [unknown, Key] => [pair.value, isScalar(pair.key) ? String(pair.key.value) : ""]), path);
  };
  const first = (items: [unknown, Key][], path: Path) => {
    for (const [item, key] of items) {
      const found = visit(item, [...path, key]);
      if (found) return found;
    }
    return undefined;
  };
  return visit(document.contents, []);
}

/** A mapping without the key that stands for the word. */
function without(value: Value | undefined): Value | undefined {
  if (Array.isArray(value)) return value.map((one) => without(one) ?? null);
  if (value === null || typeof value !== "object") return value === HERE ? undefined : value;
  return Object.fromEntries(Object.entries(value).flatMap(([key, one]) => (key === HERE ? [] : [[key, without(one) ?? null]])));
}

/** Where a word is: what stands before it on its line says whether it is a key, a value, or an item that may be both. */
function places(before: string, after: string): Place[] {
  const line = before.slice(before.lastIndexOf("\n") + 1);
  if (/^[^#"']*#/.test(line)) return [];
  const rest = after.replace(/^[\w.-]*/, "");
  const isValue = /[\w"'\]]:\s+$/.test(line);
  const named = /^\s*:(\s|$)/.test(rest);
  const tries = isValue ? [`${HERE}${rest}`] : [named ? `${HERE}${rest}` : `${HERE}: 0${/^\s*[\n}\],]|^$/.test(rest) ? "" : ","}${rest}`, ...(named ? [] : [`${HERE}${rest}`])];
  const found = tries.flatMap((one): Place[] => {
    const document = parse(before + one);
    const place = find(document);
    if (!place) return [];
    let value: Value | undefined;
    try {
      value = without(document.toJS() as Value);
    } catch {
      value = undefined;
    }
    return [{ ...place, value }];
  });
  return found.filter((place, at) => found.findIndex((other) => other.kind === place.kind) === at);
}

/** The schemas that a path may have; several where a mapping has forms between which nothing decides yet. */
function schemasAt(root: Schema, path: Path, value: Value | undefined): Schema[] {
  let at: Schema[] = [root];
  path.forEach((key, depth) => {
    const here = get(value, path.slice(0, depth));
    at = at.flatMap((schema) => {
      const may = forms(schema, root);
      if (typeof key === "number") return may.lists.flatMap((list) => (list.items ? [list.items] : []));
      return mappingsOf(may.mappings, here, root).flatMap((mapping) => mapping.properties?.[key] ?? []);
    });
  });
  return at;
}

/** The form of a mapping that its words choose; all of them while there are none. */
function mappingsOf(mappings: Schema[], value: Value | undefined, root: Schema): Schema[] {
  const names = choosers(mappings);
  const decided = names.some((name) => get(value, [name]) !== undefined);
  const one = decided || names.length === 0 ? chosen(mappings, value, root) : undefined;
  return one ? [one] : mappings;
}

const short = (text: string): string => (text.length > 40 ? `${text.slice(0, 39)}…` : text);

function keysAt(root: Schema, place: Place): Suggestion[] {
  const here = get(place.value, place.path);
  const has = new Set(here && typeof here === "object" && !Array.isArray(here) ? Object.keys(here) : []);
  const found = new Map<string, Suggestion>();
  for (const schema of schemasAt(root, place.path, place.value)) {
    for (const mapping of mappingsOf(forms(schema, root).mappings, here, root)) {
      for (const [name, property] of Object.entries(mapping.properties ?? {})) {
        if (has.has(name) || found.has(name)) continue;
        const { meaning, fallback } = said(property);
        const needed = mapping.required?.includes(name) === true;
        found.set(name, { text: name, kind: "key", meaning, note: needed ? "required" : fallback ? short(`default ${fallback}`) : "" });
      }
    }
  }
  // What must be there comes first, then in the order of the schema.
  return [...found.values()].sort((a, b) => Number(b.note === "required") - Number(a.note === "required"));
}

function valuesAt(root: Schema, place: Place): Suggestion[] {
  const found = new Map<string, Suggestion>();
  const add = (value: Value | undefined, note: string, meaning = "") => {
    if (value === undefined || (typeof value === "object" && value !== null)) return;
    const text = String(value);
    if (!found.has(text)) found.set(text, { text, kind: "value", note, meaning });
  };
  // A word that chooses the form of its mapping has one for each form.
  const [name] = place.path.slice(-1);
  const above = place.path.slice(0, -1);
  const beside = get(place.value, above);
  const others = beside && typeof beside === "object" && !Array.isArray(beside) ? Object.entries(beside).filter(([key]) => key !== name) : [];
  const mapping = Object.fromEntries(others);
  for (const schema of schemasAt(root, above, place.value)) {
    const { mappings } = forms(schema, root);
    if (typeof name === "string" && choosers(mappings).includes(name)) {
      for (const word of words(mappings, name, mapping)) {
        add(word, "", said(mappings.find((one) => one.properties?.[name]?.const === word) ?? {}).meaning);
      }
    }
  }
  for (const schema of schemasAt(root, place.path, place.value)) {
    const may = forms(schema, root);
    may.words.forEach((word) => add(word, ""));
    if (may.scalars.some((one) => [one.type].flat().includes("boolean"))) [true, false].forEach((word) => add(word, ""));
    const { fallback } = said(schema);
    if (/^[\w.%/-]+$/.test(fallback)) add(fallback, "default");
    [schema, ...may.scalars].flatMap((one) => one.examples ?? []).forEach((example) => add(example, "for instance"));
  }
  return [...found.values()];
}

/** What may be written at a place of the text, counted from 0. */
export function suggest(root: Schema, text: string, at: number): Suggested | undefined {
  const word = /[\w.-]*$/.exec(text.slice(0, at))?.[0] ?? "";
  // The bar of an item of a list is no word.
  const own = word === "-" ? "" : word;
  const from = at - own.length;
  const list = places(text.slice(0, from), text.slice(at)).flatMap((place) => (place.kind === "key" ? keysAt(root, place) : valuesAt(root, place)));
  return list.length > 0 ? { from, list } : undefined;
}

export interface Described {
  name: string;
  meaning: string;
  fallback: string;
  origin: string;
}

/** What the key at a place of the text means; lines and columns count from 1. */
export function describe(root: Schema, text: string, line: number, column: number): Described | undefined {
  const document = parse(text);
  const path = pathAt(text, document, line, column);
  const name = path.filter((key) => typeof key === "string").at(-1);
  const own = path.slice(0, path.lastIndexOf(name ?? "") + 1);
  if (name === undefined) return undefined;
  const value = document.errors.length === 0 ? (document.toJS() as Value) : undefined;
  const [schema] = schemasAt(root, own, value);
  if (!schema) return undefined;
  const told = said(schema);
  return told.meaning ? { name: String(name), ...told } : undefined;
}
