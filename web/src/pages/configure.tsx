/** A scenario as a form, as text, and as a picture; with what follows from it before it is run. */
import { useEffect, useMemo, useState } from "react";
import * as api from "../api/client";
import { problemOf, type Problem } from "../api/problem";
import type { Check, Derived, PresetRow } from "../api/types";
import { plain, short, wait, withUnit } from "../draw/numbers";
import { parse, pathAt, valueOf } from "../scenario/edit";
import { Editor } from "../scenario/editor";
import { Form, written } from "../scenario/form";
import { Mapping } from "../scenario/mapping";
import type { Schema } from "../scenario/schema";
import { FabricView } from "../ui/fabric-view";
import { download, fileName } from "../draw/save";
import { count } from "../ui/format";
import { useLoad, useSettled } from "../ui/load";
import { Empty, Page, Pending, Problems, Tabs, Tile } from "../ui/parts";
import { go, href, type Route } from "../ui/router";
import { noteStarted } from "../ui/started";

const DRAFT = "tenter-draft";

export function Configure({ route }: { route: Route }) {
  const [text, setText] = useState(() => window.sessionStorage.getItem(DRAFT) ?? "");
  const [problem, setProblem] = useState<Problem>();
  const presets = useLoad("presets", api.presets);
  const from = route.query.get("trial");
  const named = route.query.get("preset");
  useEffect(() => {
    window.sessionStorage.setItem(DRAFT, text);
  }, [text]);
  const load = (work: Promise<string>) =>
    work.then(
      (next) => {
        setText(next);
        setProblem(undefined);
      },
      (error: unknown) => setProblem(problemOf(error)),
    );
  useEffect(() => {
    if (from) void load(api.config(from));
    else if (named) void load(api.preset(named).then((preset) => preset.text));
    // The address stays as it is: the page can be opened again, and the draft goes on without it.
    if (from || named) go(["configure"], {}, true);
  }, [from, named]);
  const choose = (name: string) => void load(api.preset(name).then((preset) => preset.text));
  if (text === "") {
    return (
      <Page title="Configure" lead="Start from a preset, an example or a published study; every value can be changed.">
        {problem ? <Problems problems={[problem]} /> : null}
        {presets.data ? <Cards presets={presets.data} onChoose={choose} /> : <Pending loading={presets.loading} problem={presets.problem} />}
        <p>
          <button type="button" onClick={() => setText(FIRST)}>
            Start with a short scenario
          </button>
        </p>
      </Page>
    );
  }
  return <Draft text={text} onText={setText} presets={presets.data ?? []} onChoose={choose} problem={problem} view={route.query.get("view") ?? "configuration"} />;
}

const FIRST = `name: trial
fabric:
  kind: leaf-spine
  leaves: 2
  hosts_per_leaf: 4
  spines: 2
  uplink_rate: 400Gbps
jobs:
  - name: demo
    collectives:
      - {collective: all-to-all, size: 16MiB}
`;

const KINDS: Record<string, string> = { fabric: "Fabrics", study: "Published studies", example: "Examples" };

function grouped(presets: PresetRow[]): [string, PresetRow[]][] {
  const groups = new Map<string, PresetRow[]>();
  for (const preset of presets) groups.set(preset.kind, [...(groups.get(preset.kind) ?? []), preset]);
  return [...groups];
}

function Cards({ presets, onChoose }: { presets: PresetRow[]; onChoose: (name: string) => void }) {
  return (
    <>
      {grouped(presets).map(([kind, list]) => (
        <section key={kind}>
          <h2>{KINDS[kind] ?? kind}</h2>
          <ul className="preset">
            {list.map((preset) => (
              <li key={preset.name}>
                <button type="button" onClick={() => onChoose(preset.name)}>
                  <b>{preset.name}</b>
                  <small>{preset.meaning}</small>
                </button>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

interface DraftProps {
  text: string;
  onText: (text: string) => void;
  presets: PresetRow[];
  onChoose: (name: string) => void;
  problem: Problem | undefined;
  view: string;
}

function Draft({ text, onText, presets, onChoose, problem, view }: DraftProps) {
  const schema = useLoad("schema", api.schema);
  const settled = useSettled(text, 250);
  const check = useLoad(`check:${settled}`, (signal) => api.check(settled, signal));
  const [tags, setTags] = useState("");
  const [refused, setRefused] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const problems = useMemo(() => check.data?.problems ?? [], [check.data]);
  const checked = !check.stale && !check.loading;
  const sound = checked && check.data !== undefined && problems.length === 0;
  const valid = sound && settled === text;
  const value = useMemo(() => valueOf(parse(text)), [text]);
  const wrong = useMemo(() => {
    const document = parse(settled);
    if (document.errors.length > 0) return new Set<string>();
    return new Set(problems.flatMap((one) => (one.line && one.column ? [written(pathAt(settled, document, one.line, one.column))] : [])));
  }, [problems, settled]);
  const run = async () => {
    setBusy(true);
    try {
      const list = tags.split(",").map((tag) => tag.trim()).filter(Boolean);
      const row = await api.start({ text, tags: list });
      noteStarted(String(row.id));
      go(["run", String(row.id)]);
    } catch (error) {
      setRefused(problemOf(error));
    }
    setBusy(false);
  };
  const name = value && typeof value === "object" && !Array.isArray(value) ? String(value["name"] ?? "scenario") : "scenario";
  return (
    <Page
      title="Configure"
      of={["Configure", name]}
      lead={name}
      actions={
        <>
          <Status check={check.data} busy={!checked || settled !== text} />
          <label className="field row">
            Tags
            <input value={tags} placeholder="ecmp, baseline" onChange={(event) => setTags(event.target.value)} size={14} />
          </label>
          <button type="button" className="primary" disabled={!valid || busy} onClick={() => void run()}>
            Run trial
          </button>
        </>
      }
    >
      {problem ? <Problems problems={[problem]} /> : null}
      {refused ? <Problems problems={[refused]} /> : null}
      <div className="controls">
        <span className="field">
          <label htmlFor="start">Start from</label>
          <select id="start" value="" onChange={(event) => onChoose(event.target.value)}>
            <option value="">Preset, example or study…</option>
            {grouped(presets).map(([kind, list]) => (
              <optgroup key={kind} label={KINDS[kind] ?? kind}>
                {list.map((preset) => (
                  <option key={preset.name} value={preset.name}>
                    {preset.name}
                  </option>
                ))}
              </optgroup>
            ))}
          </select>
        </span>
        <Open onText={onText} />
        <button type="button" onClick={() => download(`${fileName(name)}.yaml`, text, "text/yaml")}>
          Save as file
        </button>
        <button type="button" onClick={() => onText("")}>
          Discard
        </button>
      </div>
      <Tabs
        label="Parts of the configuration"
        current={view}
        tabs={[
          { id: "configuration", label: "Configuration", href: href(["configure"]) },
          { id: "mapping", label: "Port mapping", href: href(["configure"], { view: "mapping" }) },
          { id: "derived", label: "Derived values", href: href(["configure"], { view: "derived" }) },
        ]}
      />
      {problems.length > 0 ? <Problems problems={problems} /> : null}
      {check.problem ? <Problems problems={[check.problem]} /> : null}
      {view === "mapping" ? <Mapping text={settled} valid={sound} broken={problems.length > 0} onText={onText} /> : null}
      {view === "derived" ? <DerivedValues check={check.data} /> : null}
      {view === "configuration" ? (
        <>
          <Facts check={check.data} />
          <div className="columns">
            <div>
              <Picture text={settled} valid={sound} broken={problems.length > 0} />
              {schema.data && value !== undefined ? (
                <Form root={schema.data as Schema} text={text} value={value} onText={onText} wrong={wrong} />
              ) : (
                <p className="empty">{schema.data ? "The form appears once the text can be read as YAML." : "Loading…"}</p>
              )}
            </div>
            <Editor text={text} problems={problems} height={Math.max(460, window.innerHeight - 260)} onText={onText} schema={schema.data as Schema | undefined} />
          </div>
        </>
      ) : null}
    </Page>
  );
}

function Status({ check, busy }: { check: Check | undefined; busy: boolean }) {
  const problems = check?.problems.length ?? 0;
  const text = busy || !check ? "checking…" : problems > 0 ? count(problems, "problem") : "ready to run";
  return (
    <span role="status" className={`state ${problems > 0 ? "failed" : busy ? "" : "done"}`}>
      {text}
    </span>
  );
}

function Facts({ check }: { check: Check | undefined }) {
  const estimate = check?.estimate;
  if (!check || check.problems.length > 0) return null;
  return (
    <dl className="tiles">
      <Tile label="Hosts" value={plain(check.hosts ?? 0)} note={check.fabric?.split(", ").slice(2, 3).join("")} />
      <Tile label="Jobs" value={check.jobs.length} note={check.jobs.slice(0, 3).map((job) => `${job.name}: ${job.ranks} ranks`).join(", ")} />
      {estimate ? (
        <>
          <Tile label="Estimated wall time" value={wait(estimate.seconds)} note="on one thread" />
          <Tile label="Packet-hops" value={short(estimate.packet_hops)} note={`${short(estimate.flows)} flows`} />
          <Tile label="Memory" value={withUnit(estimate.memory_bytes, "bytes", 3)} note={estimate.exceeds_memory ? "more than this machine has left" : undefined} />
        </>
      ) : null}
    </dl>
  );
}

function Picture({ text, valid, broken }: { text: string; valid: boolean; broken: boolean }) {
  const fabric = useLoad(valid ? `fabric:${text}` : null, (signal) => api.fabricOf(text, signal));
  if (!fabric.data) return !broken ? null : <p className="empty">The fabric is drawn once the scenario has no problems.</p>;
  const title = `Fabric: ${fabric.data.kind}`;
  return (
    <>
      {broken ? (
        <p className="note warn" role="status">
          The fabric as it was before the scenario had problems.
        </p>
      ) : null}
      <div className={broken ? "stale" : undefined}>
        <FabricView title={title} nodes={fabric.data.nodes} links={fabric.data.links} height={280} />
      </div>
    </>
  );
}

function DerivedValues({ check }: { check: Check | undefined }) {
  if (!check || check.problems.length > 0) return <Empty title="Derived values appear once the scenario has no problems" />;
  return (
    <>
      {check.notes.map((note) => (
        <p className="note" key={note}>
          {note}
        </p>
      ))}
      {check.explanation ? <pre tabIndex={0}>{check.explanation}</pre> : null}
      <details>
        <summary>All derived values by name</summary>
      <div className="scroll" tabIndex={0} role="region" aria-label="Derived values">
        <table>
          <thead>
            <tr>
              <th>Value</th>
              <th className="n">Result</th>
            </tr>
          </thead>
          <tbody>
            {check.derived.map((one) => (
              <tr key={one.path}>
                <td>
                  <code>{one.path}</code>
                </td>
                <td className="n">
                  {derivedText(one)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      </details>
      {check.effective ? (
        <details>
          <summary>Effective configuration, every default filled in</summary>
          <pre tabIndex={0}>{check.effective}</pre>
        </details>
      ) : null}
    </>
  );
}

/** A value in the unit that its name says. */
function derivedText({ value, unit }: Derived): string {
  if (typeof value !== "number") return String(value);
  return unit === "ns" || unit === "bytes" || unit === "bit/s" ? withUnit(value, unit, 6) : `${plain(value, 6)} ${unit}`;
}

function Open({ onText }: { onText: (text: string) => void }) {
  return (
    <label className="button file">
      Open a file
      <input
        type="file"
        accept=".yaml,.yml,.json"
        onChange={(event) => {
          void event.target.files?.[0]?.text().then(onText);
          event.target.value = "";
        }}
      />
    </label>
  );
}
