/** What came out of a trial, a tab for each kind of question. */
import { useState } from "react";
import * as api from "../api/client";
import { problemOf, type Problem } from "../api/problem";
import type { Cell, HeldUpCollective, Trial } from "../api/types";
import { withUnit } from "../draw/numbers";
import { csv, download, fileName } from "../draw/save";
import { count } from "../ui/format";
import { Answer } from "../ui/answers";
import { useLoad } from "../ui/load";
import { Confirm, Empty, Pending, Problems, Select, Tabs, Tile } from "../ui/parts";
import { forgetTrial, pick, usePicked } from "../ui/picked";
import { pinPlot } from "../ui/pin";
import { go, href, type Route } from "../ui/router";
import { ReportPlot, ReportPlots } from "../ui/report-plot";
import { TableView } from "../ui/table-view";
import { TimelineView } from "../ui/timeline-view";
import { TrialPage } from "../ui/trial";
import { difference, isHeld, lossRows } from "./held-up-rows";
import { CdfPlot, HeatPlot, heatMetrics, type Metric, type Of, Percentiles, PortPlot, QueuePairs } from "./plots";

const TABS = [
  { id: "summary", label: "Summary" },
  { id: "chunks", label: "Data chunks" },
  { id: "cdf", label: "CDF and tail" },
  { id: "flows", label: "Flows" },
  { id: "ports", label: "Ports" },
  { id: "timeline", label: "Timeline" },
  { id: "queues", label: "Queues and pauses" },
  { id: "links", label: "Links" },
  { id: "held-up", label: "What held it up" },
];
/** Of trials that have a table of that name: graphs of operations (trainings among them), optical switches. */
const WITH_TABLE = [
  { id: "operations", label: "Operations" },
  { id: "circuits", label: "Circuits" },
];

export function Statistics({ id, route }: { id: string | undefined; route: Route }) {
  const tab = route.parts[3] ?? "summary";
  return (
    <TrialPage id={id} page="statistics" title="Statistics">
      {(trial, reload) => (
        <>
          <TrialTabs trial={trial} tab={tab} />
          <Body key={`${trial.id}/${tab}`} trial={trial} tab={tab} reload={reload} />
        </>
      )}
    </TrialPage>
  );
}

function TrialTabs({ trial, tab }: { trial: Trial; tab: string }) {
  const id = String(trial.id);
  const tables = useLoad(trial.folder ? `tables:${id}:${trial.state}` : null, () => api.tables(id));
  const names = new Set(tables.data?.map((table) => table.name));
  const shown = [...TABS, ...WITH_TABLE.filter((one) => names.has(one.id) || one.id === tab)];
  return <Tabs label="Statistics" current={tab} tabs={shown.map((one) => ({ ...one, href: href(["trials", id, "statistics", one.id]) }))} />;
}

function Body({ trial, tab, reload }: { trial: Trial; tab: string; reload: () => void }) {
  const [pinned, setPinned] = useState("");
  const pin = (title: string, query: string) => {
    void pinPlot(trial, title, query).then(
      () => {
        setPinned(title);
        reload();
      },
      (error: unknown) => setPinned(problemOf(error).message),
    );
  };
  const id = String(trial.id);
  const { name } = trial;
  if (trial.state === "queued" || trial.state === "running") {
    return (
      <Empty title={`The trial is ${trial.state}`}>
        <a className="button" href={href(["run", id])}>
          Watch it
        </a>
      </Empty>
    );
  }
  if (tab !== "summary" && !trial.folder) return <Empty title="The trial left no tables">{trial.error}</Empty>;
  return (
    <>
      {pinned ? (
        <p className="note" role="status">
          Pinned to the <a href={href(["trials", id, "notebook"])}>notebook</a>: {pinned}
        </p>
      ) : null}
      {tab === "summary" ? <Summary trial={trial} reload={reload} /> : null}
      {tab === "chunks" ? <Chunks trial={trial} /> : null}
      {tab === "cdf" ? <Cdfs id={id} onPin={pin} /> : null}
      {tab === "flows" ? <TableView id={id} name={name} table="flows" sort={{ key: "fct_ns", order: "desc" }} /> : null}
      {tab === "ports" ? <Ports id={id} name={name} hosts={trial.hosts ?? 0} onPin={pin} /> : null}
      {tab === "timeline" ? <TimelineView id={id} jobs={trial.summary?.jobs.map((job) => job.job_name) ?? []} onPin={(query) => pin("Timeline", query)} /> : null}
      {tab === "queues" ? <Queues id={id} name={name} onPin={pin} /> : null}
      {tab === "held-up" ? <HeldUp id={id} /> : null}
      {tab === "links" ? <Pictures id={id} group="links" none="This trial has no links." /> : null}
      {tab === "operations" ? <Pictures id={id} group="operations" none="No operation of this trial takes time." /> : null}
      {tab === "circuits" ? <Pictures id={id} group="circuits" none="This trial has no optical switches." /> : null}
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
      <Actions trial={trial} reload={reload} />
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
        forgetTrial(id);
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

const CHUNK = ["job_name", "chunk", "src_rank", "dst_rank", "fct_ns", "posted_ns", "received_ns", "payload_bytes", "tx_frames", "rx_frames", "frames_delta", "latency_min_ns", "latency_avg_ns", "latency_max_ns", "rx_marked_frames", "cnp_frames"];

function Chunks({ trial }: { trial: Trial }) {
  return (
    <>
      <p className="soft">One row for each data chunk on a queue pair, from posting to acknowledgement.</p>
      <TableView id={String(trial.id)} name={trial.name} table="flows" first={CHUNK} sort={{ key: "fct_ns", order: "desc" }} />
    </>
  );
}

function Cdfs({ id, onPin }: { id: string; onPin: (title: string, query: string) => void }) {
  const [of, setOf] = useState<Of>("fct");
  return (
    <>
      <div className="controls">
        <Select
          label="Of"
          value={of}
          options={[
            { value: "fct", label: "Flow completion time" },
            { value: "latency", label: "Frame latency" },
          ]}
          onChange={(value) => setOf(value as Of)}
        />
      </div>
      <Percentiles id={id} of={of} />
      <div className="pictures">
        <CdfPlot id={id} of={of} tail={false} onPin={onPin} />
        <CdfPlot id={id} of={of} tail onPin={onPin} />
      </div>
    </>
  );
}

const PORT = ["node_name", "port", "peer_name", "rate_gbps", "utilisation", "queue_pairs", "tx_bytes", "rx_bytes", "queue_high_water_bytes", "marked_frames", "dropped_frames", "tx_xoff_frames", "rx_xoff_frames", "paused_ns", "tx_cnp_frames", "rx_cnp_frames"];

function Ports({ id, name, hosts, onPin }: { id: string; name: string; hosts: number; onPin: (title: string, query: string) => void }) {
  const [port, setPort] = useState<string>();
  const [metric, setMetric] = useState<Metric>("queue_bytes");
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
            <Select label="Shown" value={metric} options={heatMetrics} onChange={setMetric} />
            <button type="button" onClick={() => setPort(undefined)}>
              Close plot
            </button>
          </div>
          <PortPlot id={id} port={port} metric={metric} onPin={onPin} />
        </section>
      ) : (
        <p className="soft">The name of a node plots that port over time.</p>
      )}
      <QueuePairs id={id} hosts={hosts} onPin={onPin} />
      <TableView id={id} name={name} table="ports" first={PORT} sort={{ key: "utilisation", order: "desc" }} special={{ node_name: link }} />
    </>
  );
}

const QUEUE = ["node_name", "port", "peer_name", "class", "lossless", "queue_high_water_bytes", "marked_frames", "dropped_frames", "rx_xoff_frames", "tx_xoff_frames", "paused_ns", "pausing_ns", "headroom_high_water_bytes"];

function Queues({ id, name, onPin }: { id: string; name: string; onPin: (title: string, query: string) => void }) {
  const [metric, setMetric] = useState<Metric>("queue_high_water_bytes");
  return (
    <>
      <div className="controls">
        <Select label="Shown" value={metric} options={heatMetrics} onChange={setMetric} />
      </div>
      <HeatPlot id={id} metric={metric} onPin={onPin} />
      <TableView id={id} name={name} table="queues" first={QUEUE} sort={{ key: "queue_high_water_bytes", order: "desc" }} />
    </>
  );
}

/** Pictures that a report has, too. */
function Pictures({ id, group, none }: { id: string; group: string; none: string }) {
  const loaded = useLoad(`pictures:${id}:${group}`, () => api.pictures(id, group));
  if (!loaded.data) return <Pending loading={loaded.loading} problem={loaded.problem} />;
  const pictures = loaded.data[0]?.pictures ?? [];
  if (pictures.length === 0) return <Empty title="Nothing to draw">{none}</Empty>;
  return <ReportPlots pictures={pictures} />;
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
      {parts ? <ReportPlot picture={parts} /> : null}
      <details open={first} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>{title}</summary>
        {open ? over.map((picture) => <ReportPlot key={picture.title} picture={picture} />) : null}
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
                  <td title={link.waited_for ? `waited for ${link.waited_for}` : undefined}>{link.text}</td>
                  <td className="n">{withUnit(link.posted_ns, "ns", 5)}</td>
                  <td className="n">{withUnit(link.received_ns, "ns", 5)}</td>
                  <td className="n">{withUnit(difference(link.nic_wait_ns), "ns")}</td>
                  {held ? <td className="n">{withUnit(difference(link.held_by_rate_ns), "ns")}</td> : null}
                  <td className="n">{withUnit(link.transfer_ns, "ns")}</td>
                  <td className="n">{withUnit(difference(link.lost_ns), "ns")}</td>
                  <td>{link.findings.join("; ")}</td>
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
