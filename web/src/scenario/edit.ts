/** Changes of a scenario's text by key, which leave its comments and the rest of its layout alone. */
import {
  type Document,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Pair,
  type ParsedNode,
  parseDocument,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";

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
  const changed = placed(text, document, path, value);
  if (document.contents === null) document.contents = document.createNode({}) as never;
  fill(document, path);
  document.setIn(path, node(document, value));
  return kept(changed, document) ?? print(document);
}

/** A change in place, if it says the same as the changed document; that one loses the layout. */
function kept(text: string | undefined, document: Document.Parsed): string | undefined {
  if (text === undefined) return undefined;
  const again = parse(text);
  if (again.errors.length > 0) return undefined;
  return JSON.stringify(again.toJS()) === JSON.stringify(document.toJS()) ? text : undefined;
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

/** The value of a path within the value of an earlier part of it. */
function wrapped(path: Path, value: Value): Value {
  return path.reduceRight<Value>((inner, key) => (typeof key === "number" ? [inner] : { [key]: inner }), value);
}

const indentOf = (text: string, at: number): number => at - (text.lastIndexOf("\n", at - 1) + 1);
const lineEnd = (text: string, at: number): number => {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
};

/** A value behind `key:`, on the same line or below it. */
function behind(value: Value, indent: number, flow: boolean): string {
  const document = parseDocument("");
  const made = flow ? document.createNode(value, { flow: true }) : node(document as Document.Parsed, value);
  document.contents = made as never;
  const written = document.toString({ lineWidth: 0, flowCollectionPadding: false }).trimEnd();
  const below = (isMap(made) || isSeq(made)) && made.flow !== true;
  if (!below) return ` ${written}`;
  const lines = written.split("\n").map((line) => `${" ".repeat(indent + 2)}${line}`);
  return `\n${lines.join("\n")}`;
}

/** The text with a value set where its place can be found; nothing where it cannot. */
function placed(text: string, document: Document.Parsed, path: Path, value: Value): string | undefined {
  for (let length = path.length; length >= 0; length -= 1) {
    const there = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    if (!isNode(there) || !there.range) continue;
    const rest = path.slice(length);
    const inner = wrapped(rest, value);
    const collection = isMap(there) || isSeq(there);
    if (rest.length > 0 && collection) return inserted(text, there, rest, value);
    if (length === 0) return undefined;
    if (isScalar(there) && (inner === null || typeof inner !== "object")) {
      return text.slice(0, there.range[0]) + written(inner) + text.slice(there.range[1]);
    }
    return replaced(text, document, path.slice(0, length), inner);
  }
  return undefined;
}

/** The pair of a key in its mapping. */
function pairOf(document: Document.Parsed, path: Path): { pair: Pair<Scalar.Parsed, ParsedNode>; flow: boolean } | undefined {
  const above = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  if (!isMap(above)) return undefined;
  const pair = above.items.find((one) => isScalar(one.key) && one.key.value === path.at(-1));
  return pair ? { pair: pair as Pair<Scalar.Parsed, ParsedNode>, flow: above.flow === true } : undefined;
}

function replaced(text: string, document: Document.Parsed, path: Path, value: Value): string | undefined {
  const found = pairOf(document, path);
  const key = found?.pair.key.range;
  const range = found?.pair.value?.range;
  if (!found || !key || !range) return undefined;
  const colon = text.indexOf(":", key[1]);
  const indent = indentOf(text, key[0]);
  return text.slice(0, colon + 1) + behind(value, indent, found.flow) + text.slice(range[1]).replace(/^(?=[^\s,}\]])/, "\n");
}

/** The text with a key or an item added to a mapping or list. */
function inserted(text: string, into: YAMLMap | YAMLSeq, rest: Path, value: Value): string | undefined {
  const [key, ...more] = rest;
  if (!into.range || key === undefined) return undefined;
  const inner = wrapped(more, value);
  if (isSeq(into) !== (typeof key === "number")) return undefined;
  if (into.flow) {
    const close = into.range[1] - 1;
    const item = isSeq(into) ? behind(inner, 0, true).trim() : `${String(key)}:${behind(inner, 0, true)}`;
    const before = text.slice(0, close).trimEnd();
    return `${before}${into.items.length > 0 ? ", " : ""}${item}${text.slice(close)}`;
  }
  const last = isMap(into) ? into.items.at(-1)?.value : into.items.at(-1);
  const end = isNode(last) ? last.range?.[1] : undefined;
  if (end === undefined) return undefined;
  const indent = indentOf(text, into.range[0]);
  const blank = " ".repeat(indent);
  const item = isSeq(into)
    ? `${blank}- ${behind(inner, indent, false).trimStart()}`
    : `${blank}${String(key)}:${behind(inner, indent, false)}`;
  // The range of a block ends behind its last line; that of a scalar within its line.
  const stop = text[end - 1] === "\n" ? text.slice(0, end).trimEnd().length : lineEnd(text, end);
  const tail = lineEnd(text, stop);
  return `${text.slice(0, tail)}\n${item}${text.slice(tail)}`;
}

/** The text without one key; mappings that this empties go, too. */
export function unset(text: string, path: Path): string {
  const document = parse(text);
  if (document.errors.length > 0 || !document.hasIn(path)) return text;
  let gone = path;
  for (let length = path.length - 1; length > 0; length -= 1) {
    const above = document.getIn(path.slice(0, length), true);
    if (!isMap(above) || above.items.length > 1 || typeof path[length - 1] === "number") break;
    gone = path.slice(0, length);
  }
  const changed = cut(text, document, gone);
  document.deleteIn(gone);
  return kept(changed, document) ?? print(document);
}

/** The text without the lines of a key. */
function cut(text: string, document: Document.Parsed, path: Path): string | undefined {
  const found = pairOf(document, path);
  const key = found?.pair.key.range;
  const range = found?.pair.value?.range;
  if (!found || found.flow || !key || !range) return undefined;
  const from = text.lastIndexOf("\n", key[0] - 1) + 1;
  if (text.slice(from, key[0]).trim() !== "") return undefined;
  const end = text[range[1] - 1] === "\n" ? text.slice(0, range[1]).trimEnd().length : range[1];
  return text.slice(0, from) + text.slice(Math.min(lineEnd(text, end) + 1, text.length));
}

/** Several changes, one after the other. */
export function apply(text: string, changes: { path: Path; value: Value | undefined }[]): string {
  return changes.reduce(
    (last, change) => (change.value === undefined ? unset(last, change.path) : set(last, change.path, change.value)),
    text,
  );
}

/** The key or item that a place in the text belongs to; lines and columns count from 1. */
export function pathAt(text: string, document: Document.Parsed, line: number, column: number): Path {
  let offset = 0;
  for (let passed = 1; passed < line; passed += 1) offset = text.indexOf("\n", offset) + 1;
  offset += column - 1;
  const path: Path = [];
  let at: unknown = document.contents;
  for (;;) {
    const items: [Key, unknown, number, number][] = [];
    if (isMap(at)) {
      for (const pair of at.items as Pair<Scalar.Parsed, ParsedNode>[]) {
        const end = pair.value?.range[1] ?? pair.key.range[1];
        items.push([String(pair.key.value), pair.value, pair.key.range[0], end]);
      }
    } else if (isSeq(at)) {
      at.items.forEach((item, index) => {
        if (isNode(item) && item.range) items.push([index, item, item.range[0], item.range[1]]);
      });
    }
    const inside = items.find(([, , from, to]) => from <= offset && offset < Math.max(to, from + 1));
    if (!inside) return path;
    path.push(inside[0]);
    at = inside[1];
  }
}
