/** A table of a trial: any number of rows, sorted and filtered by the server. */
import { type ReactNode, useMemo, useState } from "react";
import * as api from "../api/client";
import type { Cell, Column } from "../api/types";
import { percent, plain } from "../draw/numbers";
import { csv, download, fileName } from "../draw/save";
import { isReport } from "../embedded";
import { ROWS, type TableView as TableShown } from "../views";
import { count } from "./format";
import { Grid, type GridColumn } from "./grid";
import { useLoad, useSettled } from "./load";
import { usePages } from "./pages";
import { Pending, Problems } from "./parts";
import { useShown } from "./router";
import { cellText, example, heading, numeric } from "./table-words";
import { list, sort as sortBy, text } from "./view-kinds";

interface Props {
  id: string;
  name: string;
  /** The table, the columns shown at first, or all where there are none, and the order, the greatest first. */
  view: TableShown;
  /** A cell that is more than its text. */
  special?: Record<string, (value: Cell, row: Cell[]) => ReactNode>;
}

/** Shares read better in percent. */
const isShare = (column: Column): boolean => column.name === "utilisation";

/** Heads have two lines; cells of numbers some nine digits. */
const widthOf = (column: Column): string => {
  const words = heading(column).split(" ");
  const letters = Math.max(...words.map((word) => word.length), Math.ceil(heading(column).length / 2) + 2, column.unit === "bytes" ? 12 : numeric(column) ? 9 : 13);
  return `minmax(${Math.round(letters * 7.8 + 24)}px, 1fr)`;
};

export function TableView(props: Props) {
  const { id, name } = props;
  const { table } = props.view;
  const [where, setWhere] = useShown(`${table}.filter`, text);
  const [sort, setSort] = useShown(`${table}.sort`, useMemo(() => sortBy(props.view.sort, "desc"), [props.view.sort]));
  const [chosen, setChosen] = useShown(`${table}.columns`, useMemo(() => list(props.view.columns), [props.view.columns]));
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const settled = useSettled(where, 300);
  const query = { where: settled, sort: sort.key, order: sort.order };
  const info = useLoad(`tables:${id}`, () => api.tables(id));
  const about = info.data?.find((one) => one.name === table);
  const all = about?.columns ?? [];
  const wanted = chosen.filter((key) => all.some((column) => column.name === key));
  const columns = wanted.length > 0 ? wanted.flatMap((key) => all.filter((column) => column.name === key)) : all;
  const names = columns.map((column) => column.name).join(",");
  const pages = usePages<Cell[]>(JSON.stringify([id, table, names]), about ? JSON.stringify(query) : null, (offset, limit) => api.table(id, table, { ...query, columns: names, offset, limit }));
  if (!info.data) return <Pending loading={info.loading} problem={info.problem} />;
  if (!about) return <p className="empty">This trial has no table of {table}. What is counted over a whole trial is written at its end.</p>;
  const grid = columns.map(
    (column, at): GridColumn<Cell[]> => ({
      key: column.name,
      label: heading(column),
      note: column.unit || undefined,
      meaning: column.meaning,
      width: widthOf(column),
      number: numeric(column),
      sortable: true,
      cell: (row) => props.special?.[column.name]?.(row[at] ?? null, row) ?? (isShare(column) ? percent(Number(row[at])) : cellText(row[at] ?? null)),
    }),
  );
  const file = `${fileName(name)}-${table}.csv`;
  if (isReport) {
    // The first rows are all that a report has: they can be neither sorted nor filtered as if they were all.
    const total = pages.total ?? 0;
    const rows = Array.from({ length: Math.min(total, ROWS) }, (_, at) => pages.row(at)).filter((row) => row !== undefined);
    const key = columns.find((column) => column.name === sort.key);
    const order = key ? ` with the greatest ${heading(key)}` : "";
    return (
      <>
        {pages.problem ? <Problems problems={[pages.problem]} /> : null}
        {total > rows.length ? <p className="soft">{`The ${rows.length} of ${plain(total)} rows${order}; the folder of the trial has all.`}</p> : null}
        <Grid label={`Table ${table}`} columns={grid.map((column) => ({ ...column, sortable: false }))} total={rows.length} row={(at) => rows[at]} height={420} />
        <div className="tools">
          <button type="button" onClick={() => download(file, csv(columns.map((column) => column.name), rows))}>
            CSV
          </button>
        </div>
      </>
    );
  }
  const save = async () => {
    setBusy(true);
    try {
      download(file, await api.tableCsv(id, table, query));
      setProblem(undefined);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
  };
  return (
    <>
      <div className="controls">
        <span className="field grow">
          <label htmlFor={`where-${table}`}>Filter</label>
          <input
            id={`where-${table}`}
            type="search"
            value={where}
            spellCheck={false}
            placeholder={example(all)}
            onChange={(event) => setWhere(event.target.value)}
          />
        </span>
        <ColumnMenu all={all} shown={columns.map((column) => column.name)} onChange={setChosen} />
        <button type="button" onClick={() => void save()} disabled={busy}>
          {busy ? "Writing…" : "CSV"}
        </button>
        <a className="button" href={api.files.parquet(id, table)} download>
          Parquet
        </a>
        <span className="soft" role="status">
          {pages.total === undefined ? "" : count(pages.total, "row")}
          {settled && about.rows !== pages.total ? ` of ${plain(about.rows)}` : ""}
        </span>
      </div>
      {pages.problem ? <Problems problems={[pages.problem]} /> : null}
      {problem ? <Problems problems={[{ message: problem }]} /> : null}
      <Grid
        label={`Table ${table}`}
        columns={grid}
        total={pages.total ?? 0}
        row={pages.row}
        need={pages.need}
        sort={sort}
        onSort={(key, order) => setSort({ key, order })}
        height={Math.max(300, window.innerHeight - 330)}
      />
    </>
  );
}

function ColumnMenu({ all, shown, onChange }: { all: Column[]; shown: string[]; onChange: (columns: string[]) => void }) {
  const toggle = (key: string) => {
    const next = shown.includes(key) ? shown.filter((one) => one !== key) : [...shown, key];
    if (next.length > 0) onChange(next);
  };
  return (
    <details className="menu">
      <summary className="button">
        Columns <small>{shown.length} of {all.length}</small>
      </summary>
      <div className="sheet tall">
        {all.map((column) => (
          <label key={column.name} className="field row" title={column.meaning}>
            <input type="checkbox" checked={shown.includes(column.name)} onChange={() => toggle(column.name)} />
            {heading(column)} <small>{column.unit}</small>
          </label>
        ))}
      </div>
    </details>
  );
}
