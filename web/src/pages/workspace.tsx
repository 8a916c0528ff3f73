/** All trials of the workspace folder. */
import { useCallback, useState } from "react";
import * as api from "../api/client";
import { useChanges, useProgress } from "../api/events";
import type { Row } from "../api/types";
import { sparkline } from "../draw/bars";
import { wait } from "../draw/numbers";
import { count, hundredths, jct, jctOf, moment } from "../ui/format";
import { Grid, type GridColumn } from "../ui/grid";
import { useLoad, useSettled } from "../ui/load";
import { usePages } from "../ui/pages";
import { Confirm, Empty, Page, Pending, Problems, Search, Select, State } from "../ui/parts";
import { forgetTrial, pick, usePicked } from "../ui/picked";
import { href, show, useShown } from "../ui/router";
import { useTheme } from "../ui/theme";
import { list, sort as sortBy, text } from "../ui/view-kinds";
import { problemOf, type Problem } from "../api/problem";

const STATES = ["queued", "running", "done", "incomplete", "failed", "cancelled", "interrupted"];

function Ideal({ row }: { row: Row }) {
  const theme = useTheme();
  const ideals = row.ideals.filter((value) => value !== null);
  if (ideals.length < 2) return null;
  const title = `percent of ideal of ${count(ideals.length, "instance")}`;
  return <span dangerouslySetInnerHTML={{ __html: sparkline(ideals, 78, 22, theme, title) }} />;
}

const place = (row: Row): string =>
  href(row.state === "running" || row.state === "queued" ? ["run", String(row.id)] : ["trials", String(row.id), "statistics"]);

function StateCell({ row }: { row: Row }) {
  const progress = useProgress(row.state === "running" ? row.id : undefined);
  return (
    <a href={place(row)}>
      <State state={row.state} />
      {typeof progress?.fraction === "number" && row.state === "running" ? <small> {Math.floor(progress.fraction * 100)} %</small> : null}
    </a>
  );
}

interface Optional {
  key: string;
  label: string;
  shown: boolean;
}

const OPTIONAL: Optional[] = [
  { key: "spark", label: "Ideal per instance", shown: true },
  { key: "algbw_gbytes_per_s", label: "Algbw", shown: false },
  { key: "busbw_gbytes_per_s", label: "Busbw", shown: true },
  { key: "collective", label: "Collective", shown: true },
  { key: "fabric", label: "Fabric", shown: true },
  { key: "hosts", label: "Hosts", shown: false },
  { key: "jobs", label: "Jobs", shown: false },
  { key: "seconds", label: "Wall time", shown: false },
  { key: "created", label: "Created", shown: true },
  { key: "digest", label: "Digest", shown: false },
];

function columnsOf(shown: Set<string>, picked: string[], onTag: (tag: string) => void): GridColumn<Row>[] {
  const toggle = (id: string) => pick(picked.includes(id) ? picked.filter((other) => other !== id) : [...picked, id]);
  const all: GridColumn<Row>[] = [
    {
      key: "pick",
      label: <span className="hidden">Compare</span>,
      width: "38px",
      cell: (row) => (
        <input type="checkbox" aria-label={`Compare ${row.name}`} checked={picked.includes(String(row.id))} onChange={() => toggle(String(row.id))} />
      ),
    },
    {
      key: "name",
      label: "Trial",
      width: "minmax(230px, 4fr)",
      sortable: true,
      cell: (row) => <a href={place(row)} title={row.name}>{row.name}</a>,
    },
    { key: "state", label: "State", width: "108px", sortable: true, cell: (row) => <StateCell row={row} /> },
    {
      key: "tags",
      label: "Tags",
      width: "minmax(70px, 1fr)",
      cell: (row) =>
        row.tags.map((tag) => (
          <button type="button" className="tag" key={tag} style={{ border: 0 }} onClick={() => onTag(tag)} title={`Show trials with the tag ${tag}`}>
            {tag}
          </button>
        )),
    },
    { key: "jct_ns", label: "JCT", meaning: "Longest completion time of a measured job", width: "94px", number: true, sortable: true, cell: (row) => <span title={jctOf(row)}>{jct(row)}</span> },
    { key: "ideal_percent", label: "Ideal", note: "lowest, %", meaning: "Ideal time over completion time, of the measured collective where that is lowest", width: "82px", number: true, sortable: true, cell: (row) => <span title={row.collective ?? undefined}>{row.ideal_text ?? hundredths(row.ideal_percent)}</span> },
    { key: "spark", label: "Ideal", note: "per instance", meaning: "Percent of ideal, instance after instance; 100 % is the upper border", width: "100px", cell: (row) => <Ideal row={row} /> },
    { key: "algbw_gbytes_per_s", label: "Algbw", note: "GB/s", width: "76px", number: true, sortable: true, cell: (row) => row.algbw_text ?? hundredths(row.algbw_gbytes_per_s) },
    { key: "busbw_gbytes_per_s", label: "Busbw", note: "GB/s", width: "76px", number: true, sortable: true, cell: (row) => row.busbw_text ?? hundredths(row.busbw_gbytes_per_s) },
    { key: "collective", label: "Collective", meaning: "Which collective percentage and bandwidths are of", width: "minmax(150px, 2fr)", cell: (row) => <span title={row.collective ?? undefined}>{row.collective ?? "—"}</span> },
    { key: "fabric", label: "Fabric", width: "minmax(80px, 1.4fr)", sortable: true, cell: (row) => <span title={row.fabric}>{row.fabric}</span> },
    { key: "hosts", label: "Hosts", width: "70px", number: true, sortable: true, cell: (row) => row.hosts ?? "—" },
    { key: "jobs", label: "Jobs", width: "60px", number: true, cell: (row) => row.jobs ?? "—" },
    { key: "seconds", label: "Wall time", width: "86px", number: true, sortable: true, cell: (row) => (typeof row.seconds === "number" ? wait(row.seconds) : "—") },
    { key: "created", label: "Created", width: "170px", sortable: true, cell: (row) => moment(row.created) },
    { key: "digest", label: "Digest", width: "100px", cell: (row) => <code title={row.digest ?? ""}>{row.digest?.slice(0, 8) ?? "—"}</code> },
  ];
  const optional = new Set(OPTIONAL.map((one) => one.key));
  return all.filter((column) => !optional.has(column.key) || shown.has(column.key));
}

const SORT = sortBy("created", "desc");
const COLUMNS = list(OPTIONAL.filter((one) => one.shown).map((one) => one.key));

export function Workspace() {
  const [search, setSearch] = useShown("search", text);
  const [state, setState] = useShown("state", text);
  const [tag, setTag] = useShown("tag", text);
  const [sort, setSort] = useShown("sort", SORT);
  const [columnNames, setShown] = useShown("columns", COLUMNS);
  const shown = new Set(columnNames);
  const [turn, setTurn] = useState(0);
  const [asking, setAsking] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const picked = usePicked();
  const settled = useSettled(search, 200);
  const query = { search: settled, state, tag, sort: sort.key, order: sort.order };
  const refresh = useCallback(() => setTurn((last) => last + 1), []);
  useChanges("trial", refresh);
  const rows = usePages<Row>("trials", JSON.stringify([query, turn]), (offset, limit) => api.trials({ ...query, offset, limit }));
  const about = useLoad("about", api.about);
  const columns = columnsOf(shown, picked, setTag);
  const filtered = settled !== "" || state !== "" || tag !== "";
  const removeAll = async () => {
    setAsking(false);
    try {
      for (const id of picked) {
        await api.remove(id);
        forgetTrial(id);
      }
    } catch (error) {
      setProblem(problemOf(error));
    }
    refresh();
  };
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
        {tag ? (
          <span className="tag">
            {tag}
            <button type="button" aria-label={`Show all tags, not only ${tag}`} onClick={() => setTag("")}>
              ×
            </button>
          </span>
        ) : null}
        <Columns shown={shown} onChange={setShown} />
        {picked.length > 0 ? (
          <span className="actions">
            <a className="button" href={href(["compare"], { ids: picked.join(",") })}>
              Compare {picked.length}
            </a>
            <button type="button" className="danger" onClick={() => setAsking(true)}>
              Delete {picked.length}
            </button>
            <button type="button" className="link" onClick={() => pick([])}>
              Clear
            </button>
          </span>
        ) : null}
      </div>
      {problem ? <Problems problems={[problem]} /> : null}
      {asking ? (
        <Confirm
          question={`Delete ${count(picked.length, "trial")}, with all files in their folders?`}
          yes="Delete"
          onYes={() => void removeAll()}
          onNo={() => setAsking(false)}
        />
      ) : null}
      {rows.total === undefined ? (
        <Pending loading={!rows.problem} problem={rows.problem} />
      ) : rows.total === 0 ? (
        filtered ? (
          <Empty title="No trial fits">
            <button type="button" className="link" onClick={() => show({ search: "", state: "", tag: "" })}>
              Show all
            </button>
          </Empty>
        ) : (
          <Empty title="No trials yet">
            <p>Choose a preset, change what you like, and run it. Trials that `tenter run` leaves in this folder are listed, too.</p>
            <div className="actions">
              <a className="button primary" href={href(["configure"])}>
                Configure a trial
              </a>
            </div>
          </Empty>
        )
      ) : (
        <>
          <p className="soft" role="status">
            {count(rows.total, "trial")}
          </p>
          <Grid
            label="Trials"
            columns={columns}
            total={rows.total}
            row={rows.row}
            need={rows.need}
            sort={sort}
            onSort={(key, order) => setSort({ key, order })}
            height={Math.max(320, window.innerHeight - 250)}
            rowHeight={31}
          />
        </>
      )}
    </Page>
  );
}

function Columns({ shown, onChange }: { shown: Set<string>; onChange: (next: string[]) => void }) {
  const toggle = (key: string) => {
    const next = new Set(shown);
    if (!next.delete(key)) next.add(key);
    onChange([...next]);
  };
  return (
    <details className="menu">
      <summary className="button">Columns</summary>
      <div className="sheet">
        {OPTIONAL.map((one) => (
          <label key={one.key} className="field row">
            <input type="checkbox" checked={shown.has(one.key)} onChange={() => toggle(one.key)} />
            {one.label}
          </label>
        ))}
      </div>
    </details>
  );
}
