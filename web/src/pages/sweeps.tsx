/** Sweeps: many trials of one description. */
import { useCallback } from "react";
import * as api from "../api/client";
import { useChanges } from "../api/events";
import type { Sweep } from "../api/types";
import { plain, withUnit } from "../draw/numbers";
import { csv, download, fileName } from "../draw/save";
import { isReport } from "../embedded";
import { Answer } from "../ui/answers";
import { moment } from "../ui/format";
import { useLoad } from "../ui/load";
import { Empty, Meter, Page, Pending, Problems, State, Tile } from "../ui/parts";
import { href, type Route } from "../ui/router";
import { Cases } from "./study-cases";
import { Readings } from "./sweep-readings";
import { labelOf } from "./sweep-rows";

export function Sweeps({ route }: { route: Route }) {
  const [, id] = route.parts;
  if (id === "together") return <Together ids={route.query.get("ids") ?? ""} />;
  return id ? <OneSweep id={id} /> : <AllSweeps />;
}

function AllSweeps() {
  const sweeps = useLoad("sweeps", api.sweeps);
  const { reload } = sweeps;
  useChanges("sweep", useCallback(() => reload(), [reload]));
  const over = (sweeps.data ?? []).filter((sweep) => sweep.state === "done").map((sweep) => sweep.id);
  return (
    <Page
      title="Sweeps"
      lead="Many trials of one scenario, at the points of a design."
      actions={
        <>
          {over.length > 1 ? (
            <a className="button" href={href(["sweeps", "together"], { ids: over.join(",") })}>
              Put those that are done side by side
            </a>
          ) : null}
          <a className="button primary" href={href(["sweeps", "new"])}>
            New sweep
          </a>
        </>
      }
    >
      {!sweeps.data ? (
        <Pending loading={sweeps.loading} problem={sweeps.problem} />
      ) : sweeps.data.length === 0 ? (
        <Empty title="No sweeps yet">
          <a className="button" href={href(["sweeps", "new"])}>
            Describe a sweep
          </a>
        </Empty>
      ) : (
        <div className="scroll">
          <table>
            <thead>
              <tr>
                <th>Sweep</th>
                <th>State</th>
                <th className="n">Trials done</th>
                <th className="n">Failed</th>
                <th>Created</th>
              </tr>
            </thead>
            <tbody>
              {sweeps.data.map((sweep) => (
                <tr key={sweep.id}>
                  <td>
                    <a href={href(["sweeps", String(sweep.id)])}>{sweep.name}</a>
                  </td>
                  <td>
                    <State state={sweep.state} />
                  </td>
                  <td className="n">
                    {plain(sweep.done)} of {plain(sweep.total)}
                  </td>
                  <td className="n">{plain(sweep.failed)}</td>
                  <td className="moment">{moment(sweep.created)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Page>
  );
}

function OneSweep({ id }: { id: string }) {
  const sweep = useLoad(`sweep:${id}`, () => api.sweep(id));
  const { reload } = sweep;
  useChanges("sweep", useCallback((changed: string) => {
    if (changed === id || changed === "") reload();
  }, [id, reload]));
  if (!sweep.data) {
    return (
      <Page title="Sweep">
        <Pending loading={sweep.loading} problem={sweep.problem} />
      </Page>
    );
  }
  const data = sweep.data;
  return (
    <Page
      title={data.name}
      of={[data.name, "Sweep"]}
      lead={<>Sweep of {plain(data.total)} trials, {plain(data.done)} done <State state={data.state} /></>}
      actions={
        isOver(data.state) || isReport ? null : (
          <button type="button" className="danger" onClick={() => void api.cancelSweep(id).then(reload, reload)}>
            Abort
          </button>
        )
      }
    >
      {data.error ? <Problems problems={[{ message: data.error }]} /> : null}
      {!isOver(data.state) ? <Meter value={data.done / Math.max(data.total, 1)} label={`Progress of ${data.name}`} /> : null}
      <Head sweep={data} />
      {data.cases.length > 0 ? <Cases title="Published and measured" name={data.name} cases={data.cases} /> : null}
      {data.rows.some((row) => row.values.some((value) => value !== null)) ? <Readings sweep={data} /> : <p className="empty">{isOver(data.state) ? "The sweep has no results." : "No trial is done yet."}</p>}
      <Points sweep={data} />
      {data.text ? (
        <details>
          <summary>Description of the sweep</summary>
          <pre tabIndex={0}>{data.text}</pre>
        </details>
      ) : null}
    </Page>
  );
}

const isOver = (state: string): boolean => state !== "running" && state !== "queued";

type SweepPoint = Sweep["rows"][number];

/** Times are read in nanoseconds; people read those in the unit that fits. */
const say = (value: number, unit: string): string => withUnit(value, unit, 5);

/** What it is about, what must be known of its values, and how large it is. */
function Head({ sweep }: { sweep: Sweep }) {
  const seeds = [...new Set(sweep.rows.map((row) => row.seed))].sort((a, b) => Number(a) - Number(b));
  const range = seeds.length > 1 ? `${seeds[0]} to ${seeds.at(-1)}` : seeds[0];
  return (
    <>
      {sweep.about ? <p>{sweep.about}</p> : null}
      {sweep.notes.map((note) => (
        <p className={note.startsWith("warning") ? "note warn" : "note"} key={note}>
          {note}
        </p>
      ))}
      <dl className="tiles">
        <Tile label="Trials" value={plain(sweep.rows.length)} note="that have run" />
        <Tile label="Points" value={plain(sweep.points.length)} note={sweep.axes.map(labelOf).join(", ") || "nothing is varied"} />
        <Tile label="Variants" value={plain(sweep.variants.length)} note={sweep.variants.join(", ") || undefined} />
        <Tile label="Seeds" value={plain(seeds.length)} note={range} />
      </dl>
      {sweep.digest ? (
        <p className="soft">
          Digest <code>{sweep.digest}</code>.
        </p>
      ) : null}
    </>
  );
}

/** What sweeps have in common, seed by seed at equal settings. */
function Together({ ids }: { ids: string }) {
  const loaded = useLoad(`sweeps-together:${ids}`, () => api.sweepsTogether(ids));
  const sections = loaded.data?.sections;
  return (
    <Page title="Sweeps side by side" lead="What the sweeps have in common, seed by seed at equal settings; differences are against the first.">
      {sections ? null : <Pending loading={loaded.loading} problem={loaded.problem} />}
      {sections?.length === 0 ? <Empty title="They have nothing in common" /> : null}
      {sections?.map((section, at) => <Answer key={at} section={section} trial="sweeps" />)}
    </Page>
  );
}

function Points({ sweep }: { sweep: Sweep }) {
  if (sweep.rows.length === 0) return null;
  const many = sweep.variants.length > 1;
  const columns = [...(many ? ["variant"] : []), ...sweep.axes.map(labelOf), "seed"];
  const cells = (row: SweepPoint) => [...(many ? [row.variant] : []), ...row.point, row.seed];
  const heads = [...columns, ...sweep.readings.map((one) => (one.unit ? `${one.name} (${one.unit})` : one.name))];
  return (
    <section>
      <h2>Trials</h2>
      <div className="tools">
        <button type="button" onClick={() => download(`${fileName(sweep.name)}.csv`, csv(heads, sweep.rows.map((row) => [...cells(row), ...row.values])))}>
          CSV
        </button>
      </div>
      <div className="scroll" tabIndex={0} role="region" aria-label="Trials of the sweep" style={{ maxHeight: 520 }}>
        <table data-table="sweep">
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column}>{column}</th>
              ))}
              {sweep.readings.map((one) => (
                <th key={one.name} className="n">
                  {one.name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sweep.rows.slice(0, 2000).map((row, at) => (
              <tr key={at}>
                {cells(row).map((cell, column) => (
                  <td key={column}>{column === 0 && typeof row.trial === "number" ? <a href={href(["trials", String(row.trial), "statistics"])}>{cell || "trial"}</a> : cell}</td>
                ))}
                {row.values.map((value, column) => (
                  <td key={column} className="n">
                    {typeof value === "number" ? say(value, sweep.readings[column]?.unit ?? "") : "—"}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
