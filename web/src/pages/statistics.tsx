/** What came out of a trial, a tab for each kind of question. */
import { Fragment, type ReactNode, useState } from "react";
import * as api from "../api/client";
import { problemOf, type Problem } from "../api/problem";
import type { Cell, HeldUpCollective, Trial } from "../api/types";
import { withUnit } from "../draw/numbers";
import { csv, download, fileName } from "../draw/save";
import { isReport } from "../embedded";
import { count } from "../ui/format";
import { Answer } from "../ui/answers";
import { useLoad } from "../ui/load";
import { Confirm, Empty, Pending, Problems, Select, Tabs, Tile } from "../ui/parts";
import { forgetTrials, pick, usePicked } from "../ui/picked";
import { pinPlot } from "../ui/pin";
import { go, href, type Route, useShown } from "../ui/router";
import { PictureGroupView, PicturePlot } from "../ui/picture";
import { TablePictures } from "../ui/table-pictures";
import { TableView } from "../ui/table-view";
import { TimelineView } from "../ui/timeline-view";
import { TrialPage } from "../ui/trial";
import { text, word } from "../ui/view-kinds";
import { CHUNKS, type Group, METRICS, type PartId, PARTS, PORTS, QUEUES } from "../views";
import { FabricBody } from "./fabric";
import { aboutTrial } from "./about-trial";
import { difference, isHeld, lossRows } from "./held-up-rows";
import { CdfPlot, HeatPlot, heatMetrics, type Metric, type Of, Percentiles, type PlotProps, PortPlot } from "./plots";

interface Given {
  trial: Trial;
  route: Route;
  reload: () => void;
  /** Pins a plot to the note; a report has none. */
  onPin?: (title: string, query: string) => void;
}

interface Content {
  /** The table without which a trial has no such part: graphs of operations, optical switches. */
  table?: string;
  /** Whether it is left out where all parts stand below each other: it has what another part has, or a page of its own. */
  alone?: "everywhere" | "in the workspace";
  draw: (given: Given) => ReactNode;
}

const idOf = (trial: Trial): string => String(trial.id);

const CONTENTS: Record<PartId, Content> = {
  summary: { draw: ({ trial, reload }) => <Summary trial={trial} reload={reload} /> },
  operations: { table: "operations", draw: ({ trial }) => <Pictures id={idOf(trial)} group="operations" none="No operation of this trial takes time." /> },
  cdf: { draw: ({ trial, onPin }) => <Cdfs id={idOf(trial)} onPin={onPin} /> },
  timeline: { draw: (given) => <Timeline {...given} /> },
  "held-up": { draw: ({ trial }) => <HeldUp id={idOf(trial)} /> },
  fabric: { alone: "in the workspace", draw: ({ trial, route }) => <FabricBody id={idOf(trial)} route={route} /> },
  links: { draw: ({ trial }) => <Pictures id={idOf(trial)} group="links" none="This trial has no links." /> },
  circuits: { table: "circuits", draw: ({ trial }) => <Pictures id={idOf(trial)} group="circuits" none="This trial has no optical switches." /> },
  queues: { draw: ({ trial, onPin }) => <Queues id={idOf(trial)} name={trial.name} onPin={onPin} /> },
  ports: { draw: ({ trial, onPin }) => <Ports id={idOf(trial)} name={trial.name} onPin={onPin} /> },
  chunks: { draw: ({ trial }) => <Chunks trial={trial} /> },
  flows: { alone: "everywhere", draw: ({ trial }) => <TableView id={idOf(trial)} name={trial.name} view={{ ...CHUNKS, columns: [] }} /> },
  settings: { draw: ({ trial }) => <Settings trial={trial} /> },
};
interface Part extends Content {
  id: PartId;
  label: string;
}
const ORDERED = (Object.keys(PARTS) as PartId[]).map((id): Part => ({ id, label: PARTS[id], ...CONTENTS[id] }));
/** All parts below each other: what a report begins with, and what is printed. */
const ALL = { id: "all", label: "Everything" };

export function Statistics({ id, route }: { id: string | undefined; route: Route }) {
  const tab = route.parts[3] ?? (isReport ? ALL.id : "summary");
  return (
    <TrialPage id={id} page="statistics" title="Statistics" rest={route.parts.slice(3)} part={[...ORDERED, ALL].find((part) => part.id === tab)?.label}>
      {(trial, reload) => <Body key={`${trial.id}/${tab}`} trial={trial} tab={tab} route={route} reload={reload} />}
    </TrialPage>
  );
}

/** The parts that a trial has; those of the tab that is open in any case. */
function partsOf(names: Set<string>, tab: string): Part[] {
  const has = (part: Part) => part.table === undefined || names.has(part.table) || part.id === tab;
  const shown = (part: Part) => !(isReport && part.alone === "everywhere") && !(!isReport && part.alone === "in the workspace");
  return ORDERED.filter((part) => has(part) && (shown(part) || part.id === tab));
}

function Body({ trial, tab, route, reload }: { trial: Trial; tab: string; route: Route; reload: () => void }) {
  const [pinned, setPinned] = useState("");
  const id = idOf(trial);
  const tables = useLoad(trial.folder ? `tables:${id}:${trial.state}` : null, () => api.tables(id));
  const pin = (title: string, query: string) => {
    void pinPlot(trial, title, query).then(
      () => {
        setPinned(title);
        reload();
      },
      (error: unknown) => setPinned(problemOf(error).message),
    );
  };
  const names = new Set(tables.data?.map((table) => table.name));
  const parts = partsOf(names, tab);
  const tabs = isReport ? [ALL, ...parts] : [...parts, ALL];
  const links = <Tabs label="Statistics" current={tab} tabs={tabs.map((one) => ({ id: one.id, label: one.label, href: href(["trials", id, "statistics", one.id]) }))} />;
  if (trial.state === "queued" || trial.state === "running") {
    return (
      <>
        {links}
        <Empty title={`The trial is ${trial.state}`}>
          <a className="button" href={href(["run", id])}>
            Watch it
          </a>
        </Empty>
      </>
    );
  }
  const given: Given = { trial, route, reload, ...(isReport ? {} : { onPin: pin }) };
  const draw = (part: Part) => (
    <>
      {part.draw(given)}
      <TablePictures part={part.id} tables={names} trial={trial} onPin={given.onPin} />
    </>
  );
  const withTables = (part: Part) =>
    part.id === "summary" || part.id === "settings" || trial.folder ? draw(part) : <Empty title="The trial left no tables">{trial.error}</Empty>;
  return (
    <>
      {links}
      {pinned ? (
        <p className="note" role="status">
          Pinned to the <a href={href(["trials", id, "notebook"])}>notebook</a>: {pinned}
        </p>
      ) : null}
      {tab === ALL.id
        ? parts
            .filter((part) => part.alone !== "everywhere" && (trial.folder || part.id === "summary"))
            .map((part) => (
              <section key={part.id} className="part">
                <h2 id={`part-${part.id}`}>{part.label}</h2>
                {draw(part)}
              </section>
            ))
        : parts.filter((part) => part.id === tab).map((part) => <Fragment key={part.id}>{withTables(part)}</Fragment>)}
    </>
  );
}

function Summary({ trial, reload }: { trial: Trial; reload: () => void }) {
  const { summary } = trial;
  return (
    <>
      {trial.error && trial.state === "failed" ? <Problems problems={[{ message: trial.error }]} /> : null}
      {trial.error && trial.state !== "failed" ? <p className="note warn">The trial ended early: {trial.error}. What was recorded until then is kept.</p> : null}
      {summary ? (
        <>
          <dl className="tiles">
            {trial.tiles.map((tile, at) => (
              <Tile key={at} label={tile.label} value={tile.value} note={tile.note || undefined} />
            ))}
          </dl>
          {summary.warnings.map((warning) => (
            <p className="note warn" key={warning}>
              {warning}
            </p>
          ))}
          {trial.sections.map((section, at) => (
            <Answer key={at} section={section} trial={trial.name} />
          ))}
          {trial.facts.length > 0 ? (
            <>
              <h2>In total</h2>
              <dl className="facts">
                {trial.facts.map((fact) => (
                  <div key={fact.label} style={{ display: "contents" }}>
                    <dt>{fact.label}</dt>
                    <dd>{fact.text}</dd>
                  </div>
                ))}
              </dl>
            </>
          ) : null}
          {summary.notes
            .filter((note) => note.severity !== "warning")
            .map((note) => (
              <p className="note" key={note.text}>
                {note.text}
              </p>
            ))}
        </>
      ) : (
        <Empty title="The trial left no summary">{trial.folder ? "A summary is written at the end of a trial; its flows and samples until then are under the other tabs." : null}</Empty>
      )}
      {isReport ? null : <Actions trial={trial} reload={reload} />}
    </>
  );
}

function Actions({ trial, reload }: { trial: Trial; reload: () => void }) {
  const [asking, setAsking] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const [tag, setTag] = useState("");
  const [name, setName] = useState(trial.name);
  const picked = usePicked();
  const id = String(trial.id);
  const { tags } = trial;
  const change = (what: { tags?: string[]; name?: string }) => {
    api.change(id, what).then(reload, (error: unknown) => setProblem(problemOf(error)));
  };
  const save = (next: string[]) => change({ tags: next });
  const remove = () => {
    api.remove(id).then(
      () => {
        forgetTrials([id]);
        go([]);
      },
      (error: unknown) => {
        setAsking(false);
        setProblem(problemOf(error));
      },
    );
  };
  return (
    <section>
      <h2>This trial</h2>
      {problem ? <Problems problems={[problem]} /> : null}
      <div className="controls">
        <form
          className="field"
          onSubmit={(event) => {
            event.preventDefault();
            const word = tag.trim();
            if (word && !tags.includes(word)) save([...tags, word]);
            setTag("");
          }}
        >
          <label htmlFor="tag">Tags</label>
          <span>
            {tags.map((one) => (
              <span className="tag" key={one}>
                {one}
                <button type="button" aria-label={`Remove tag ${one}`} onClick={() => save(tags.filter((other) => other !== one))}>
                  ×
                </button>
              </span>
            ))}
            <input id="tag" value={tag} placeholder="Add a tag" size={12} onChange={(event) => setTag(event.target.value)} /> <button type="submit">Add tag</button>
          </span>
        </form>
        <form
          className="field"
          onSubmit={(event) => {
            event.preventDefault();
            change({ name: name.trim() });
          }}
        >
          <label htmlFor="trial-name">Name</label>
          <span>
            <input id="trial-name" value={name} size={24} onChange={(event) => setName(event.target.value)} />{" "}
            <button type="submit" disabled={name.trim() === "" || name.trim() === trial.name}>
              Rename
            </button>
          </span>
        </form>
      </div>
      <div className="actions">
        <button
          type="button"
          aria-pressed={picked.includes(id)}
          onClick={() => pick(picked.includes(id) ? picked.filter((other) => other !== id) : [...picked, id])}
        >
          {picked.includes(id) ? "In the comparison" : "Add to comparison"}
        </button>
        <a className="button" href={href(["trials", id, "notebook"])}>
          Notes
        </a>
        {trial.folder && trial.summary ? (
          <>
            <a className="button" href={api.files.report(id)} target="_blank" rel="noreferrer">
              Report
            </a>
            <a className="button" href={api.files.trace(id)} download={`${fileName(trial.name)}-trace.json`} title="Open the file at ui.perfetto.dev or in a local copy of Perfetto">
              Trace for Perfetto
            </a>
          </>
        ) : null}
        <a className="button" href={api.files.config(id)} download={`${fileName(trial.name)}.yaml`}>
          Configuration
        </a>
        <button type="button" className="danger" onClick={() => setAsking(true)}>
          Delete
        </button>
      </div>
      <p className="soft">
        {trial.folder ? (
          <>
            Folder <code>{trial.folder}</code>.{" "}
          </>
        ) : null}
        {trial.digest ? (
          <>
            Digest <code>{trial.digest}</code>.
          </>
        ) : null}
      </p>
      {asking ? <Confirm question={`Delete ${trial.name}, with all files in its folder?`} yes="Delete" onYes={remove} onNo={() => setAsking(false)} /> : null}
    </section>
  );
}

function Chunks({ trial }: { trial: Trial }) {
  return (
    <>
      <p className="soft">One row for each data chunk on a queue pair, from posting to acknowledgement.</p>
      <TableView id={String(trial.id)} name={trial.name} view={CHUNKS} />
    </>
  );
}

const OFS: { value: Of; label: string }[] = [
  { value: "fct", label: "Flow completion time" },
  { value: "latency", label: "Frame latency" },
];
const OF = word(OFS.map((one) => one.value));
const PORT_METRIC = word<Metric>(METRICS, "queue_bytes");
const QUEUE_METRIC = word<Metric>(METRICS);

function Cdfs({ id, onPin }: PlotProps) {
  const [of, setOf] = useShown("of", OF);
  return (
    <>
      <div className="controls">
        <Select
          label="Quantity"
          value={of}
          options={OFS}
          onChange={setOf}
        />
      </div>
      <Percentiles id={id} of={of} />
      <div className="pictures">
        <CdfPlot id={id} of={of} tail={false} onPin={onPin} />
        <CdfPlot id={id} of={of} tail onPin={onPin} />
      </div>
      <Pictures id={id} group="fct" none="" />
    </>
  );
}

function Ports({ id, name, onPin }: PlotProps & { name: string }) {
  const [port, setPort] = useShown("port", text);
  const [metric, setMetric] = useShown("port.metric", PORT_METRIC);
  const link = (_: Cell, row: Cell[]) => {
    const named = `${String(row[0])}:${String(row[1])}`;
    return (
      <button type="button" className="link" onClick={() => setPort(named)} aria-label={`Plot ${named}`}>
        {String(row[0])}
      </button>
    );
  };
  return (
    <>
      {port ? (
        <section>
          <div className="controls">
            <Select label="Quantity" value={metric} options={heatMetrics} onChange={setMetric} />
            <button type="button" onClick={() => setPort("")}>
              Close plot
            </button>
          </div>
          <PortPlot id={id} port={port} metric={metric} onPin={onPin} />
        </section>
      ) : isReport ? null : (
        <p className="soft">The name of a node plots that port over time.</p>
      )}
      <TableView id={id} name={name} view={PORTS} special={isReport ? {} : { node_name: link }} />
    </>
  );
}

function Queues({ id, name, onPin }: PlotProps & { name: string }) {
  const [metric, setMetric] = useShown("queues.metric", QUEUE_METRIC);
  return (
    <>
      <div className="controls">
        <Select label="Quantity" value={metric} options={heatMetrics} onChange={setMetric} />
      </div>
      <HeatPlot id={id} metric={metric} onPin={onPin} />
      <Pictures id={id} group="time" none="" />
      <TableView id={id} name={name} view={QUEUES} />
    </>
  );
}

/** Pictures that are given as data. Nothing is said where there are none, unless `none` says it. */
function Pictures({ id, group, none }: { id: string; group: Group; none: string }) {
  const loaded = useLoad(`pictures:${id}:${group}`, () => api.pictures(id, group));
  if (!loaded.data) return <Pending loading={loaded.loading} problem={loaded.problem} />;
  const [found] = loaded.data;
  if (!found) return none ? <Empty title="Nothing to draw">{none}</Empty> : null;
  return <PictureGroupView group={found} name={found.name} />;
}

function Timeline({ trial, onPin }: Given) {
  const jobs = trial.summary?.jobs.map((job) => job.job_name) ?? [];
  return (
    <>
      <Pictures id={idOf(trial)} group="jobs" none="" />
      <TimelineView id={idOf(trial)} jobs={jobs} {...(onPin ? { onPin: (query: string) => onPin("Timeline", query) } : {})} />
    </>
  );
}

/** The run, and the scenario as it ran. */
function Settings({ trial }: { trial: Trial }) {
  const config = useLoad(`config:${trial.id}`, () => api.config(idOf(trial)));
  const facts = aboutTrial(trial);
  return (
    <>
      <dl className="facts">
        {facts.map(([name, text]) => (
          <div key={name} style={{ display: "contents" }}>
            <dt>{name}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <p className="soft">The scenario as it ran, with every default filled in. Saved as a file it runs again with the same results.</p>
      {config.data === undefined ? <Pending loading={config.loading} problem={config.problem} /> : (
        <details open={!isReport}>
          <summary>config.yaml</summary>
          <pre tabIndex={0}>{config.data}</pre>
        </details>
      )}
    </>
  );
}

function HeldUp({ id }: { id: string }) {
  const loaded = useLoad(`held:${id}`, () => api.heldUp(id));
  if (!loaded.data) return <Pending loading={loaded.loading} problem={loaded.problem} />;
  if (loaded.data.collectives.length === 0) return <Empty title="Nothing to follow">No collective of this trial has data chunks that wait for each other.</Empty>;
  return (
    <>
      <p className="soft">From the end of a collective back to its start: the chunk that came last, what it waited for, and so on.</p>
      {loaded.data.collectives.map((one, at) => (
        <Chain key={at} one={one} first={at === 0} />
      ))}
    </>
  );
}

function Chain({ one, first }: { one: HeldUpCollective; first: boolean }) {
  const { links, title } = lossRows(one);
  const held = isHeld(one);
  const [parts, ...over] = one.pictures;
  const [open, setOpen] = useState(first);
  const rows = links.map((link) => [link.text, link.posted_ns, link.received_ns, link.rank_wait_ns, link.nic_wait_ns, link.held_by_rate_ns, link.transfer_ns, link.lost_ns, link.findings.join("; ")]);
  const columns = ["chunk", "posted_ns", "received_ns", "rank_wait_ns", "nic_wait_ns", "held_by_rate_ns", "transfer_ns", "lost_ns", "findings"];
  return (
    <section>
      <h2>
        {one.job_name}: {one.operation}
        {one.iteration > 0 ? `, iteration ${one.iteration}` : ""}
      </h2>
      <p>
        It took {withUnit(one.total_ns, "ns", 5)} over a chain of {count(one.chunks, "chunk")}.
      </p>
      {parts ? <PicturePlot picture={parts} /> : null}
      <details open={first} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>{title}</summary>
        {open ? over.map((picture) => <PicturePlot key={picture.title} picture={picture} />) : null}
        <div className="scroll" tabIndex={0} role="region" aria-label={`Chain of ${one.job_name}, ${one.operation}`} style={{ maxHeight: 420 }}>
          <table>
            <thead>
              <tr>
                <th>Chunk</th>
                <th className="n">Posted</th>
                <th className="n">Received</th>
                <th className="n">Waited in the NIC</th>
                {held ? <th className="n">Held by its rate</th> : null}
                <th className="n">On the way</th>
                <th className="n">Lost</th>
                <th>On its way</th>
              </tr>
            </thead>
            <tbody>
              {links.map((link, at) => (
                <tr key={at}>
                  <td className="chunk" title={link.waited_for ? `waited for ${link.waited_for}` : undefined}>{link.text}</td>
                  <td className="n">{withUnit(link.posted_ns, "ns", 5)}</td>
                  <td className="n">{withUnit(link.received_ns, "ns", 5)}</td>
                  <td className="n">{withUnit(difference(link.nic_wait_ns), "ns")}</td>
                  {held ? <td className="n">{withUnit(difference(link.held_by_rate_ns), "ns")}</td> : null}
                  <td className="n">{withUnit(link.transfer_ns, "ns")}</td>
                  <td className="n">{withUnit(difference(link.lost_ns), "ns")}</td>
                  <td className="words">{link.findings.join("; ")}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        <div className="tools">
          <button type="button" onClick={() => download(`${fileName(`chain-${one.job_name}`)}.csv`, csv(columns, rows))}>
            CSV
          </button>
        </div>
      </details>
    </section>
  );
}
