/** Changes of a scenario's text by key, which leave its comments and the rest of its layout alone. */
import { type Document, isMap, isScalar, isSeq, parseDocument, type Scalar } from "yaml";

export type Key = string | number;
export type Path = Key[];
export type Value = string | number | boolean | null | Value[] | { [key: string]: Value };

export function parse(text: string): Document.Parsed {
  return parseDocument(text, { keepSourceTokens: true, prettyErrors: false });
}

/** The scenario as plain values, or nothing while the text is no YAML. */
export function valueOf(document: Document.Parsed): Value | undefined {
  if (document.errors.length > 0) return undefined;
  try {
    return document.toJS() as Value;
  } catch {
    return undefined;
  }
}

export function get(value: Value | undefined, path: Path): Value | undefined {
  let at: Value | undefined = value;
  for (const key of path) {
    if (Array.isArray(at)) at = at[Number(key)];
    else if (at !== null && typeof at === "object") at = at[String(key)];
    else return undefined;
  }
  return at;
}

/** What a person types in a field, as YAML reads it: `4` is a number, `400Gbps` a text. */
export function scalar(text: string): Value {
  const document = parseDocument(text);
  if (document.errors.length > 0) return text;
  const value = document.toJS() as Value;
  return value === undefined ? "" : value;
}

/** A value as a field shows it. */
export function shown(value: Value | undefined): string {
  if (value === undefined) return "";
  if (value === null) return "null";
  if (typeof value !== "object") return String(value);
  const document = parseDocument("");
  document.contents = document.createNode(value, { flow: true }) as never;
  return document.toString({ lineWidth: 0, flowCollectionPadding: false }).trim();
}

function written(value: Value): string {
  const document = parseDocument("");
  document.contents = document.createNode(value) as never;
  return document.toString({ lineWidth: 0 }).trim();
}

function print(document: Document.Parsed): string {
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

/** How mappings and lists inside a value are written: on one line where they are short. */
function node(document: Document.Parsed, value: Value) {
  const made = document.createNode(value);
  if (isSeq(made) && made.items.every((item) => isScalar(item))) made.flow = true;
  if (isMap(made)) made.flow = made.items.length > 0 && JSON.stringify(value).length < 60;
  return made;
}

/** The text with one value set. */
export function set(text: string, path: Path, value: Value): string {
  const document = parse(text);
  if (document.errors.length > 0) return text;
  const existing = document.getIn(path, true);
  if (isScalar(existing) && existing.range && (value === null || typeof value !== "object")) {
    const [from, to] = (existing as Scalar.Parsed).range;
    return text.slice(0, from) + written(value) + text.slice(to);
  }
  if (document.contents === null) document.contents = document.createNode({}) as never;
  fill(document, path);
  document.setIn(path, node(document, value));
  return print(document);
}

/** Makes the mappings and lists on the way to a key that are not there yet. */
function fill(document: Document.Parsed, path: Path): void {
  for (let length = 1; length < path.length; length += 1) {
    const part = path.slice(0, length);
    const there = document.getIn(part, true);
    if (isMap(there) || isSeq(there)) {
      // A mapping without keys is written `{}`, in which new keys would stand on one line.
      if (isMap(there) && there.items.length === 0) there.flow = false;
      continue;
    }
    document.setIn(part, document.createNode(typeof path[length] === "number" ? [] : {}));
  }
}

/** The text without one key; mappings that this empties go, too. */
export function unset(text: string, path: Path): string {
  const document = parse(text);
  if (document.errors.length > 0 || !document.hasIn(path)) return text;
  document.deleteIn(path);
  for (let length = path.length - 1; length > 0; length -= 1) {
    const part = path.slice(0, length);
    const left = document.getIn(part, true);
    if (!isMap(left) || left.items.length > 0 || typeof part.at(-1) === "number") break;
    document.deleteIn(part);
  }
  return print(document);
}

/** Several changes, one after the other. */
export function apply(text: string, changes: { path: Path; value: Value | undefined }[]): string {
  return changes.reduce(
    (last, change) => (change.value === undefined ? unset(last, change.path) : set(last, change.path, change.value)),
    text,
  );
}
