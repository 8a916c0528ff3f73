/** All trials of the workspace folder: searched, filtered, in groups, plotted, and picked to be compared. */
import { useCallback, useMemo, useState } from "react";
import * as api from "../api/client";
import { useChanges } from "../api/events";
import { problemOf, type Problem, Refused } from "../api/problem";
import { Choice } from "../ui/choice";
import { count } from "../ui/format";
import { useLoad, useSettled } from "../ui/load";
import { Confirm, Empty, Page, Pending, Problems, Search, Select } from "../ui/parts";
import { COMPARED, forgetTrials, pick, usePicked } from "../ui/picked";
import { href, show, useShown } from "../ui/router";
import { flag, list, sort as sortBy, text } from "../ui/view-kinds";
import { firstColumns, type TrialColumn, trialColumns } from "./trial-columns";
import { exampleOf, type Filter, FILTERS, testOf } from "./trial-filters";
import { TrialPlotView } from "./trial-plot-view";
import { TrialGrid, useTrialTable } from "./trial-table";

const STATES = ["queued", "running", "done", "incomplete", "failed", "cancelled", "interrupted"];

/** Trials that are shown before all others are there, and the most that are sorted, filtered and grouped. */
const FIRST = 200;
const MOST = 10_000;

const SORT = sortBy("created", "desc");
const GROUPS = list();
/** By these the server can sort. */
const SORTED = new Set(["created", "name", "state", "fabric", "hosts", "jobs", "jct_ns", "ideal_percent", "algbw_gbytes_per_s", "busbw_gbytes_per_s"]);

/** The trials that fit: the newest at once, all of them soon after. */
function useTrials(query: { search: string; state: string; tag: string }, sort: { key: string; order: "asc" | "desc" }) {
  const name = JSON.stringify(query);
  const newest = { sort: "created", order: "desc" } as const;
  const first = useLoad(`trials:${name}`, (signal) => api.trials({ ...query, ...newest, limit: FIRST }, signal));
  const total = first.data?.total;
  // Of more than can be here, those that an order begins with are chosen by the server.
  const order = (total ?? 0) > MOST && SORTED.has(sort.key) ? { sort: sort.key, order: sort.order } : newest;
  const wanted = total !== undefined && total > FIRST && !first.stale;
  const all = useLoad(wanted ? `trials:all:${name}:${JSON.stringify(order)}` : null, (signal) => api.trials({ ...query, ...order, limit: MOST }, signal), true);
  const { reload: again } = first;
  const { reload: allAgain } = all;
  const whole = wanted ? all : first;
  return {
    // Until the answer to this search is here, `all` has that to the one before.
    rows: (wanted && all.data && !all.stale ? all.data.rows : first.data?.rows) ?? NONE,
    total,
    whole: whole.data !== undefined && !whole.stale,
    problem: first.problem ?? all.problem,
    refresh: useCallback(() => {
      again();
      allAgain();
    }, [again, allAgain]),
  };
}

const NONE: never[] = [];

export function Workspace() {
  const [search, setSearch] = useShown("search", text);
  const [state, setState] = useShown("state", text);
  const [tag, setTag] = useShown("tag", text);
  const [sort, setSort] = useShown("sort", SORT);
  const [groups, setGroups] = useShown("group", GROUPS);
  const [filters, setFilters] = useShown("filters", FILTERS);
  const [plotted, setPlotted] = useShown("plot", flag);
  const [asking, setAsking] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const picked = usePicked();
  const isPicked = useMemo(() => new Set(picked), [picked]);
  const settled = useSettled(search, 200);
  const about = useLoad("about", api.about);
  // The server reads all sweeps for it, so it is asked for seldom.
  const designs = useLoad("sweeps:designs", api.sweepDesigns, true);
  const { rows, total, whole, problem: refused, refresh } = useTrials({ search: settled, state, tag }, sort);
  useChanges("trial", refresh);
  const { reload: designsAgain } = designs;
  useChanges("sweep", designsAgain);
  const columns = useMemo(() => trialColumns(designs.data ?? []), [designs.data]);
  const first = useMemo(() => list(firstColumns(columns, rows)), [columns, rows]);
  const [shown, setShown] = useShown("columns", first);
  const tests = useMemo(() => new Map(filters.flatMap(({ key, condition }) => {
    const column = columns.find((one) => one.key === key);
    const test = column && testOf(column, condition);
    return test ? [[key, test] as const] : [];
  })), [filters, columns]);
  const table = useTrialTable(rows, columns, sort, groups, tests);
  // Groups and filters of a part of the trials would be taken for those of all.
  const early = !whole && SORT.write(sort) === undefined && groups.length === 0 && tests.size === 0;
  const onPick = (ids: string[], on: boolean) => {
    const set = new Set(ids);
    pick(on ? [...new Set([...picked, ...ids])] : picked.filter((id) => !set.has(id)));
  };
  const removeAll = async () => {
    setAsking(false);
    const gone: string[] = [];
    try {
      for (const id of picked) {
        // One that somebody else has deleted is gone, too.
        await api.remove(id).catch((error: unknown) => {
          if (!(error instanceof Refused && error.status === 404)) throw error;
        });
        gone.push(id);
      }
    } catch (error) {
      setProblem(problemOf(error));
    }
    forgetTrials(gone);
    refresh();
  };
  // A sweep keeps the tables of its trials only where its description says so; a comparison reads them.
  const bare = rows.some((row) => row.place && !row.folder && isPicked.has(String(row.id)));
  const filtered = settled !== "" || state !== "" || tag !== "" || tests.size > 0;
  const found = whole ? table.found.length : (total ?? 0);
  const ids = () => table.found.map((row) => String(row.id));
  return (
    <Page
      title="Workspace"
      lead={about.data ? <>Trials in <code>{about.data.folder}</code></> : null}
      actions={
        <a className="button primary" href={href(["configure"])}>
          New trial
        </a>
      }
    >
      <div className="controls">
        <Search label="Search trials" placeholder="Search names, notes and tags" value={search} onChange={setSearch} />
        <Select
          label="State"
          value={state}
          options={[{ value: "", label: "All" }, ...STATES.map((value) => ({ value, label: value }))]}
          onChange={setState}
        />
        {tag ? <Chip text={tag} name={`Show all tags, not only ${tag}`} onClose={() => setTag("")} /> : null}
        <Groups columns={columns} groups={groups} onChange={setGroups} />
        <Filters columns={columns} filters={filters} onChange={setFilters} />
        <Columns columns={columns} shown={shown} onChange={setShown} />
      </div>
      {problem ? <Problems problems={[problem]} /> : null}
      {refused && total !== undefined ? <Problems problems={[refused]} /> : null}
      {asking ? (
        <Confirm
          question={`Delete ${count(picked.length, "trial")}, with all files in their folders?`}
          yes="Delete"
          onYes={() => void removeAll()}
          onNo={() => setAsking(false)}
        />
      ) : null}
      {total === undefined ? (
        <Pending loading={!refused} problem={refused} />
      ) : total === 0 || (whole && found === 0) ? (
        <Nothing filtered={filtered} />
      ) : (
        <>
          <div className="controls">
            <span className="soft" role="status">
              {tests.size > 0 && whole ? `${count(found, "trial")} of ${total.toLocaleString("en")}` : count(total, "trial")}
              {total > MOST ? `; the first ${MOST.toLocaleString("en")} are here, a search finds others` : ""}
            </span>
            <button type="button" className="link" disabled={!whole} onClick={() => pick(ids())}>
              Pick all
            </button>
            <button type="button" aria-pressed={plotted} onClick={() => setPlotted(!plotted)}>
              Plot
            </button>
            {picked.length > 0 ? (
              <span className="actions">
                {picked.length <= COMPARED && !bare ? (
                  <a className="button" href={href(["compare"], { ids: picked.join(",") })}>
                    Compare {picked.length}
                  </a>
                ) : null}
                <button type="button" className="danger" onClick={() => setAsking(true)}>
                  Delete {picked.length.toLocaleString("en")}
                </button>
                <button type="button" className="link" onClick={() => pick([])}>
                  Clear
                </button>
                {picked.length > COMPARED ? <span className="soft">{`Up to ${COMPARED} trials can be compared; more can be plotted.`}</span> : bare ? <span className="soft">Trials of a sweep without `keep: tables` can be plotted, not compared.</span> : null}
              </span>
            ) : null}
          </div>
          {plotted && whole ? <Plotted found={table.found} picked={isPicked} columns={columns} /> : null}
          {whole || early ? (
            <TrialGrid
              table={table}
              columns={columns}
              shown={shown}
              groups={groups}
              sort={sort}
              onSort={setSort}
              picked={isPicked}
              onPick={onPick}
              onTag={setTag}
              total={whole ? 0 : total}
            />
          ) : (
            <Pending loading problem={refused} />
          )}
        </>
      )}
    </Page>
  );
}

/** The picked trials among those listed, or all of these where none is picked. */
function Plotted({ found, picked, columns }: { found: ReturnType<typeof useTrialTable>["found"]; picked: ReadonlySet<string>; columns: readonly TrialColumn[] }) {
  const own = useMemo(() => found.filter((row) => picked.has(String(row.id))), [found, picked]);
  return <TrialPlotView rows={own.length > 0 ? own : found} columns={columns} picked={own.length > 0} />;
}

function Nothing({ filtered }: { filtered: boolean }) {
  if (filtered) {
    return (
      <Empty title="No trial fits">
        <button type="button" className="link" onClick={() => show({ search: "", state: "", tag: "", filters: "" })}>
          Show all
        </button>
      </Empty>
    );
  }
  return (
    <Empty title="No trials yet">
      <p>Choose a preset, change what you like, and run it. Trials that `tenter run` leaves in this folder are listed, too.</p>
      <div className="actions">
        <a className="button primary" href={href(["configure"])}>
          Configure a trial
        </a>
      </div>
    </Empty>
  );
}

function Chip({ text: said, name, onClose }: { text: string; name: string; onClose: () => void }) {
  return (
    <span className="tag">
      {said}
      <button type="button" aria-label={name} onClick={onClose}>
        ×
      </button>
    </span>
  );
}

const options = (columns: readonly TrialColumn[]) => columns.map((column) => ({ value: column.key, label: column.section === "Trial" ? column.label : `${column.label} (${column.section.toLowerCase().slice(0, -1)})` }));

function Groups({ columns, groups, onChange }: { columns: readonly TrialColumn[]; groups: readonly string[]; onChange: (groups: readonly string[]) => void }) {
  const may = columns.filter((column) => !groups.includes(column.key) && column.section !== "Readings" && !["name", "jct_ns", "created"].includes(column.key));
  return (
    <span className="chosen">
      {groups.map((key) => {
        const label = columns.find((column) => column.key === key)?.label ?? key;
        return <Chip key={key} text={`by ${label}`} name={`Do not group by ${label}`} onClose={() => onChange(groups.filter((other) => other !== key))} />;
      })}
      <Choice label="Group by" placeholder={groups.length > 0 ? "Then by…" : "Group by…"} options={options(may)} onChoose={(key) => onChange([...groups, key])} />
    </span>
  );
}

function Filters({ columns, filters, onChange }: { columns: readonly TrialColumn[]; filters: readonly Filter[]; onChange: (filters: readonly Filter[]) => void }) {
  // A filter without a condition is not in the address yet.
  const [begun, setBegun] = useState<string>();
  const listed = begun && !filters.some((one) => one.key === begun) ? [...filters, { key: begun, condition: "" }] : filters;
  const set = (key: string, condition: string) => {
    if (condition === "") setBegun(key);
    const others = listed.filter((one) => one.condition !== "" || one.key === key);
    onChange(others.map((one) => (one.key === key ? { key, condition } : one)).filter((one) => one.condition !== ""));
  };
  const may = columns.filter((column) => column.key !== "created" && !listed.some((one) => one.key === column.key));
  return (
    <span className="chosen">
      {listed.map(({ key, condition }) => {
        const column = columns.find((one) => one.key === key);
        if (!column) return null;
        return (
          <span className="tag filter" key={key}>
            {column.label}
            <input
              aria-label={`Filter by ${column.label}`}
              aria-invalid={condition !== "" && !testOf(column, condition)}
              placeholder={exampleOf(column)}
              value={condition}
              size={Math.max(condition.length, 12)}
              spellCheck={false}
              autoFocus={key === begun}
              onChange={(event) => set(key, event.target.value)}
            />
            <button
              type="button"
              aria-label={`Do not filter by ${column.label}`}
              onClick={() => {
                setBegun(undefined);
                onChange(filters.filter((one) => one.key !== key));
              }}
            >
              ×
            </button>
          </span>
        );
      })}
      <Choice label="Filter by" placeholder="Filter by…" options={options(may)} onChoose={setBegun} />
    </span>
  );
}

function Columns({ columns, shown, onChange }: { columns: readonly TrialColumn[]; shown: readonly string[]; onChange: (next: readonly string[]) => void }) {
  const toggle = (key: string) => onChange(shown.includes(key) ? shown.filter((one) => one !== key) : [...shown, key]);
  const box = (key: string, label: string, meaning?: string) => (
    <label key={key} className="field row" title={meaning}>
      <input type="checkbox" checked={shown.includes(key)} onChange={() => toggle(key)} />
      {label}
    </label>
  );
  return (
    <details className="menu">
      <summary className="button">Columns</summary>
      <div className="sheet tall">
        {(["Trial", "Settings", "Readings"] as const).map((section) => {
          const own = columns.filter((column) => column.section === section && !["name", "state"].includes(column.key));
          return own.length === 0 ? null : (
            <fieldset key={section}>
              <legend>{section}</legend>
              {own.map((column) => box(column.key, column.label, column.meaning))}
              {section === "Trial" ? box("spark", "Ideal per instance") : null}
            </fieldset>
          );
        })}
      </div>
    </details>
  );
}
