/** A form of a scenario, made from the JSON Schema; every field changes the text. */
import { useId, useState } from "react";
import { apply, get, type Path, scalar, set, shown, unset, type Value } from "./edit";
import { choosers, chosen, forms, resolve, said, type Schema, words } from "./schema";

interface Context {
  root: Schema;
  text: string;
  value: Value | undefined;
  onText: (text: string) => void;
  /** Paths that a problem names, for marking fields. */
  wrong: Set<string>;
}

/** Keys that are shown even where a scenario leaves them out, because most people look for them. */
const USUAL: Record<string, string[]> = {
  "": ["name", "seed", "fabric", "endpoint", "jobs"],
  fabric: ["kind", "hosts", "leaves", "hosts_per_leaf", "spines", "links_per_pair", "host_rate", "uplink_rate", "load_balancing", "flow_control"],
  endpoint: ["nic"],
  "endpoint.nic": ["mtu", "message_size", "congestion_control", "loss_recovery"],
  "jobs[]": ["name", "ranks", "queue_pairs", "iterations", "collectives"],
  "jobs[].collectives[]": ["collective", "algorithm", "size", "sizes"],
};

const general = (path: Path): string =>
  path.reduce<string>((text, key) => (typeof key === "number" ? `${text}[]` : text ? `${text}.${key}` : key), "");
export const written = (path: Path): string =>
  path.reduce<string>((text, key) => (typeof key === "number" ? `${text}[${key}]` : text ? `${text}.${key}` : key), "");

export function Form(context: Context) {
  const mapping = forms(context.root, context.root).mappings;
  return (
    <div className="form">
      <Mapping {...context} mappings={mapping} path={[]} />
    </div>
  );
}

type MappingProps = Context & { mappings: Schema[]; path: Path };

function Mapping(props: MappingProps) {
  const { mappings, path, root, value, text, onText } = props;
  const here = get(value, path);
  const schema = chosen(mappings, here, root);
  const [added, setAdded] = useState<string[]>([]);
  const id = useId();
  if (!schema) return null;
  const names = Object.keys(schema.properties ?? {});
  const usual = USUAL[general(path)] ?? [];
  const chooser = choosers(mappings);
  const present = here && typeof here === "object" && !Array.isArray(here) ? Object.keys(here) : [];
  const required = schema.required ?? [];
  const few = names.length <= 4;
  const visible = names
    .filter((name) => few || [...usual, ...chooser, ...required, ...present, ...added].includes(name))
    .sort((a, b) => order(a, usual, chooser) - order(b, usual, chooser) || names.indexOf(a) - names.indexOf(b));
  const isLong = (name: string) => {
    const may = forms(schema.properties?.[name] ?? {}, root);
    return may.mappings.length + may.lists.length > 0;
  };
  // Sections come after single values, so that these share lines.
  visible.sort((a, b) => Number(isLong(a)) - Number(isLong(b)));
  const rest = names.filter((name) => !visible.includes(name));
  const choose = (name: string, word: Value | undefined) => {
    let next = { ...(here as Record<string, Value>), ...(word === undefined ? {} : { [name]: word }) };
    const later = chooser.slice(chooser.indexOf(name) + 1);
    for (const other of later) {
      const left = words(mappings, other, next);
      if (next[other] === undefined || left.length === 0 || left.includes(next[other])) continue;
      next = Object.fromEntries(Object.entries(next).filter(([key]) => key !== other));
    }
    const form = chosen(mappings, next, root);
    const gone = present.filter((key) => next[key] === undefined || !form?.properties?.[key]);
    onText(apply(text, [{ path: [...path, name], value: word }, ...gone.map((key) => ({ path: [...path, key], value: undefined }))]));
  };
  return (
    <>
      <div className="keys">
        {visible.map((name) =>
          chooser.includes(name) ? (
            <Words
              key={name}
              {...props}
              path={[...path, name]}
              schema={schema.properties?.[name] ?? {}}
              words={words(mappings, name, here)}
              onWord={(word) => choose(name, word)}
            />
          ) : (
            <Key key={name} {...props} path={[...path, name]} schema={schema.properties?.[name] ?? {}} required={required.includes(name)} />
          ),
        )}
      </div>
      {rest.length > 0 ? (
        <p>
          <label className="hidden" htmlFor={id}>
            Add a key to {written(path) || "the scenario"}
          </label>
          <select id={id} value="" onChange={(event) => setAdded([...added, event.target.value])}>
            <option value="">Add a key…</option>
            {rest.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </p>
      ) : null}
    </>
  );
}

function order(name: string, usual: string[], chooser: string[]): number {
  const chosenAt = chooser.indexOf(name);
  if (chosenAt >= 0) return chosenAt - 100;
  const at = usual.indexOf(name);
  return at >= 0 ? at : 99;
}

type KeyProps = Context & { path: Path; schema: Schema; required?: boolean };

/** A sentence with its words in backquotes set as code. */
function Rich({ text }: { text: string }) {
  return <>{text.split("`").map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</>;
}

/** What a key means, shown while its field has the focus. */
function Help({ schema }: { schema: Schema }) {
  const about = said(schema);
  return (
    <p className="help">
      <Rich text={about.meaning} />
      {about.origin ? <Rich text={` Origin: ${about.origin}.`} /> : null}
    </p>
  );
}

function Label({ id, path, schema, onReset, isSet }: { id: string; path: Path; schema: Schema; isSet: boolean; onReset: () => void }) {
  const about = said(schema);
  const hint = [about.meaning, about.origin ? `Origin: ${about.origin}` : "", about.fallback ? `Default: ${about.fallback}` : ""]
    .filter(Boolean)
    .join("\n");
  const name = String(path.at(-1));
  return (
    <div className="head">
      <label htmlFor={id} title={hint}>
        <code>{name}</code>
      </label>
      {isSet ? (
        <button type="button" className="reset" onClick={onReset} aria-label={`Reset ${written(path)} to its default`}>
          reset
        </button>
      ) : null}
    </div>
  );
}

function Words(props: KeyProps & { words: Value[]; onWord: (word: Value | undefined) => void }) {
  const id = useId();
  const now = get(props.value, props.path);
  const { fallback } = said(props.schema);
  const known = props.words.some((word) => word === now);
  return (
    <div className={now === undefined ? "key" : "key set"}>
      <Label id={id} path={props.path} schema={props.schema} isSet={false} onReset={() => undefined} />
      <select
        id={id}
        value={now === undefined ? "" : String(now)}
        aria-invalid={props.wrong.has(written(props.path))}
        onChange={(event) => props.onWord(event.target.value === "" ? undefined : props.words.find((word) => String(word) === event.target.value))}
      >
        {now === undefined || fallback ? <option value="">{fallback ? `default: ${fallback}` : "choose…"}</option> : null}
        {known || now === undefined ? null : <option value={String(now)}>{shown(now)}</option>}
        {props.words.map((word) => (
          <option key={String(word)} value={String(word)}>
            {String(word)}
          </option>
        ))}
      </select>
      <Help schema={props.schema} />
    </div>
  );
}

function Key(props: KeyProps) {
  const { root, value, path, text, onText } = props;
  const schema = resolve(props.schema, root);
  const may = forms(schema, root);
  const now = get(value, path);
  const reset = () => onText(unset(text, path));
  const isMapping = typeof now === "object" && now !== null && !Array.isArray(now);
  if (may.mappings.length > 0) {
    const only = may.words.length === 0 && may.scalars.length === 0 && may.lists.length === 0;
    if (only || isMapping) return <Part {...props} schema={schema} mappings={may.mappings} onReset={reset} />;
  }
  const objects = may.lists.some((list) => forms(list.items ?? {}, root).mappings.length > 0);
  if (may.lists.length > 0 && (objects || Array.isArray(now)) && objects) {
    return <List {...props} schema={schema} item={may.lists[0]?.items ?? {}} onReset={reset} />;
  }
  return <Field {...props} schema={schema} onReset={reset} />;
}

function Part(props: KeyProps & { mappings: Schema[]; onReset: () => void }) {
  const now = get(props.value, props.path);
  const top = props.path.length === 1;
  const [open, setOpen] = useState(now !== undefined && (props.path.length < 3 || JSON.stringify(now).length < 100));
  const { meaning } = said(props.schema);
  return (
    <details className={top ? "part top" : "part"} open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary title={meaning}>
        <code>{String(props.path.at(-1))}</code>
        <small>{open || now === undefined ? <Rich text={meaning} /> : summary(now)}</small>
      </summary>
      {open ? <Mapping {...props} mappings={props.mappings} /> : null}
      {open && now !== undefined && !top ? (
        <button type="button" className="link" onClick={props.onReset}>
          Reset {String(props.path.at(-1))}
        </button>
      ) : null}
    </details>
  );
}

const summary = (value: Value): string => {
  const text = shown(value);
  return text.length > 90 ? `${text.slice(0, 89)}…` : text;
};

function List(props: KeyProps & { item: Schema; onReset: () => void }) {
  const { path, root, text, onText } = props;
  const now = get(props.value, path);
  const items = Array.isArray(now) ? now : [];
  const name = String(path.at(-1));
  const mappings = forms(props.item, root).mappings;
  const { meaning } = said(props.schema);
  const add = () => {
    const first = items.at(-1) ?? starter(name);
    const copy = name === "jobs" && typeof first === "object" ? { ...first, name: `job${items.length}` } : first;
    onText(set(text, path, [...items, copy as Value]));
  };
  return (
    <details className="part top" open={path.length < 4}>
      <summary title={meaning}>
        <code>{name}</code>
        <small>
          <Rich text={meaning} />
        </small>
      </summary>
      {items.map((item, at) => (
        <details key={at} className="part" open={items.length < 4}>
          <summary>
            <code>
              {name}[{at}]
            </code>
            <small>{title(item)}</small>
          </summary>
          <Mapping {...props} mappings={mappings} path={[...path, at]} />
          {items.length > 1 || path.length > 1 ? (
            <button type="button" className="link" onClick={() => onText(unset(text, [...path, at]))}>
              Remove {name}[{at}]
            </button>
          ) : null}
        </details>
      ))}
      <button type="button" onClick={add}>
        Add to {name}
      </button>
    </details>
  );
}

function title(item: Value): string {
  if (typeof item !== "object" || item === null || Array.isArray(item)) return shown(item);
  const words = ["name", "collective", "algorithm", "kind", "size", "host"].map((key) => item[key]).filter((word) => typeof word === "string" || typeof word === "number");
  return words.join(", ");
}

function starter(name: string): Value {
  if (name === "jobs") return { name: "job0", collectives: [{ collective: "all-to-all", size: "16MiB" }] };
  if (name === "collectives") return { collective: "all-to-all", size: "16MiB" };
  return {};
}

function Field(props: KeyProps & { onReset: () => void }) {
  const id = useId();
  const { path, root, text, onText } = props;
  const now = get(props.value, path);
  const may = forms(props.schema, root);
  const [typed, setTyped] = useState<string | null>(null);
  const { fallback } = said(props.schema);
  const invalid = props.wrong.has(written(path));
  const onlyWords = may.scalars.length === 0 && may.lists.length === 0;
  const change = (next: string) => {
    if (next === "") onText(unset(text, path));
    else onText(set(text, path, may.scalars.length === 1 && may.scalars[0]?.pattern ? next : scalar(next)));
  };
  const label = <Label id={id} path={path} schema={props.schema} isSet={now !== undefined && !props.required} onReset={props.onReset} />;
  if (onlyWords) {
    const mapping = may.mappings.length > 0;
    return (
      <div className={now === undefined ? "key" : "key set"}>
        {label}
        <select
          id={id}
          aria-invalid={invalid}
          value={now === undefined ? "" : String(now)}
          onChange={(event) => {
            if (event.target.value === "{}") onText(set(text, path, start(may.mappings)));
            else change(event.target.value);
          }}
        >
          <option value="">{fallback ? `default: ${fallback.replaceAll("`", "")}` : "default"}</option>
          {may.words.map((word) => (
            <option key={String(word)} value={String(word)}>
              {String(word)}
            </option>
          ))}
          {mapping ? <option value="{}">own values…</option> : null}
        </select>
        <Help schema={props.schema} />
      </div>
    );
  }
  return (
    <div className={now === undefined ? "key" : "key set"}>
      {label}
      <input
        id={id}
        list={may.words.length > 0 ? `${id}-words` : undefined}
        value={typed ?? shown(now)}
        placeholder={fallback.replaceAll("`", "")}
        aria-invalid={invalid}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => {
          setTyped(event.target.value);
          change(event.target.value);
        }}
        onBlur={() => setTyped(null)}
      />
      {may.words.length > 0 ? (
        <datalist id={`${id}-words`}>
          {may.words.map((word) => (
            <option key={String(word)} value={String(word)} />
          ))}
        </datalist>
      ) : null}
      <Help schema={props.schema} />
    </div>
  );
}

/** A mapping with the words that it cannot be without. */
function start(mappings: Schema[]): Value {
  const first = mappings[0];
  const entries = (first?.required ?? []).flatMap((name) => {
    const word = first?.properties?.[name]?.const ?? first?.properties?.[name]?.enum?.[0];
    return word === undefined ? [] : [[name, word] as const];
  });
  return Object.fromEntries(entries);
}
