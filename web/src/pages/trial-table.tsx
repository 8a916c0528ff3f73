/** The trials of a workspace as a table: any number of them, in groups, with the columns that are chosen. */
import {
  columnFilteringFeature,
  columnGroupingFeature,
  type ColumnDef,
  constructAggregationFn,
  createExpandedRowModel,
  createFilteredRowModel,
  createGroupedRowModel,
  createSortedRowModel,
  rowAggregationFeature,
  rowExpandingFeature,
  rowSortingFeature,
  type Row as TableRow,
  tableFeatures,
  useTable,
} from "@tanstack/react-table";
import { type ReactNode, useMemo, useState } from "react";
import { useProgress } from "../api/events";
import type { Row } from "../api/types";
import { sparkline } from "../draw/bars";
import { count, jct, jctOf } from "../ui/format";
import { Grid, type GridColumn } from "../ui/grid";
import { State } from "../ui/parts";
import { href } from "../ui/router";
import { useTheme } from "../ui/theme";
import type { Sort } from "../ui/view-kinds";
import { commonOf, isResult, middleOf, type TrialColumn, type Value, widthOfNames } from "./trial-columns";
import type { Test } from "./trial-filters";

const middle = constructAggregationFn({ aggregate: ({ rows, getValue }) => middleOf(rows.map((row) => getValue(row) as Value)) });
const common = constructAggregationFn({ aggregate: ({ rows, getValue }) => commonOf(rows.map((row) => getValue(row) as Value)) });

const features = tableFeatures({
  columnFilteringFeature,
  columnGroupingFeature,
  rowAggregationFeature,
  rowExpandingFeature,
  rowSortingFeature,
  filteredRowModel: createFilteredRowModel(),
  groupedRowModel: createGroupedRowModel(),
  expandedRowModel: createExpandedRowModel(),
  sortedRowModel: createSortedRowModel(),
});

type Line = TableRow<typeof features, Row>;

/** Trials that are under a line of the table: those of a group, or one. */
const under = (line: Line): Row[] => (line.getIsGrouped() ? line.getLeafRows().filter((leaf) => !leaf.getIsGrouped()).map((leaf) => leaf.original) : [line.original]);

export interface TrialTable {
  /** The lines that are shown. */
  lines: Line[];
  /** The trials that the filters let through. */
  found: Row[];
  isOpen: (line: Line) => boolean;
  toggle: (line: Line) => void;
}

/** Filters, sorts and groups trials. */
export function useTrialTable(rows: Row[], columns: readonly TrialColumn[], sort: Sort, groups: readonly string[], tests: ReadonlyMap<string, Test>): TrialTable {
  const [expanded, setExpanded] = useState<Record<string, boolean>>({});
  const defined = useMemo(
    () =>
      columns.map((column): ColumnDef<typeof features, Row> => ({
        id: column.key,
        accessorFn: column.of,
        aggregationFn: isResult(column) ? middle : common,
        sortUndefined: "last",
        sortFn: column.kind === "number" ? "basic" : (a, b, id) => String(a.getValue(id)).localeCompare(String(b.getValue(id)), "en", { numeric: true, sensitivity: "base" }),
        filterFn: (row, id, test: Test) => test(row.getValue(id)),
      }) as ColumnDef<typeof features, Row>),
    [columns],
  );
  const known = new Set(columns.map((column) => column.key));
  const state = {
    expanded,
    sorting: useMemo(() => [{ id: sort.key, desc: sort.order === "desc" }], [sort]).filter((one) => known.has(one.id)),
    grouping: useMemo(() => [...groups], [groups]),
    columnFilters: useMemo(() => [...tests].map(([id, value]) => ({ id, value })), [tests]),
  };
  const table = useTable({
    features,
    data: rows,
    columns: defined,
    getRowId: (row: Row) => String(row.id),
    autoResetExpanded: false,
    state,
  });
  const lines = table.getRowModel().rows;
  const filtered = table.getFilteredRowModel().rows;
  const found = useMemo(() => filtered.map((line) => line.original), [filtered]);
  return {
    lines,
    found,
    isOpen: (line) => expanded[line.id] === true,
    toggle: (line) => setExpanded((last) => ({ ...last, [line.id]: !last[line.id] })),
  };
}

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

/** Columns that need more room than their numbers, or less. */
const WIDTHS: Record<string, string> = {
  state: "108px",
  tags: "minmax(70px, 1fr)",
  jct_ns: "112px",
  ideal_percent: "82px",
  spark: "100px",
  collective: "minmax(150px, 2fr)",
  fabric: "minmax(80px, 1.4fr)",
  hosts: "70px",
  jobs: "60px",
  created: "170px",
};

const widthOf = (column: TrialColumn): string => WIDTHS[column.key] ?? (column.kind === "text" ? "minmax(90px, 1fr)" : `${Math.max(column.section === "Readings" ? 104 : 80, Math.min(column.label.length, 16) * 8 + 22)}px`);

interface Props {
  table: TrialTable;
  /** All columns, and the keys of those shown. */
  columns: readonly TrialColumn[];
  shown: readonly string[];
  groups: readonly string[];
  sort: Sort;
  onSort: (sort: Sort) => void;
  picked: ReadonlySet<string>;
  onPick: (ids: string[], on: boolean) => void;
  onTag: (tag: string) => void;
  /** How many there are, where not all are here yet. */
  total: number;
}

export function TrialGrid({ table, columns, shown, groups, sort, onSort, picked, onPick, onTag, total }: Props) {
  const { lines, found } = table;
  const nameWidth = useMemo(() => widthOfNames(found, window.innerWidth), [found]);
  const special: Record<string, (row: Row) => ReactNode> = {
    name: (row) => (
      <a href={place(row)} title={row.name}>
        {row.name}
      </a>
    ),
    state: (row) => <StateCell row={row} />,
    tags: (row) =>
      row.tags.map((tag) => (
        <button type="button" className="tag" key={tag} style={{ border: 0 }} onClick={() => onTag(tag)} title={`Show trials with the tag ${tag}`}>
          {tag}
        </button>
      )),
    jct_ns: (row) => <span title={jctOf(row)}>{jct(row)}</span>,
    digest: (row) => <code title={row.digest ?? ""}>{row.digest?.slice(0, 8) ?? "—"}</code>,
  };
  const grouped = groups.flatMap((key) => columns.filter((column) => column.key === key));
  const cell = (column: TrialColumn) => (line: Line): ReactNode => {
    if (line.getIsGrouped()) {
      const value = line.getValue(column.key) as Value;
      return value === undefined ? "" : <span title={isResult(column) ? "median of the group" : undefined}>{column.say(value)}</span>;
    }
    const drawn = special[column.key]?.(line.original);
    if (drawn !== undefined) return drawn;
    const said = column.text?.(line.original) ?? column.say(column.of(line.original));
    return column.kind === "text" ? <span title={said}>{said}</span> : said;
  };
  const pickCell = (line: Line) => {
    const trials = under(line);
    const ids = trials.map((row) => String(row.id));
    const on = ids.filter((id) => picked.has(id)).length;
    const name = line.getIsGrouped() ? `Pick the ${count(ids.length, "trial")} of ${groupName(line, columns)}` : `Compare ${line.original.name}`;
    return (
      <input
        type="checkbox"
        aria-label={name}
        checked={on === ids.length}
        ref={(box) => {
          if (box) box.indeterminate = on > 0 && on < ids.length;
        }}
        onChange={() => onPick(ids, on < ids.length)}
      />
    );
  };
  const named = (line: Line): ReactNode => {
    const open = table.isOpen(line);
    return (
      <button type="button" className="link group" aria-expanded={open} style={{ paddingLeft: line.depth * 14 }} onClick={() => table.toggle(line)}>
        {open ? "▾" : "▸"} {groupName(line, columns)} <small>{count(under(line).length, "trial")}</small>
      </button>
    );
  };
  const visible = columns.filter((column) => shown.includes(column.key) && !groups.includes(column.key));
  const made = visible.flatMap((column): GridColumn<Line>[] => {
    const one: GridColumn<Line> = {
      key: column.key,
      label: column.label,
      note: column.key === "ideal_percent" ? "lowest, %" : column.unit === "GB/s" ? column.unit : undefined,
      meaning: column.meaning,
      width: column.key === "name" ? `minmax(${nameWidth}px, 4fr)` : widthOf(column),
      number: column.kind === "number" && column.key !== "created",
      sortable: true,
      cell: cell(column),
    };
    if (column.key !== "ideal_percent" || !shown.includes("spark")) return [one];
    return [one, { key: "spark", label: "Ideal", note: "per instance", meaning: "Percent of ideal, instance after instance; 100 % is the upper border", width: "100px", cell: (line) => (line.getIsGrouped() ? "" : <Ideal row={line.original} />) }];
  });
  const all: GridColumn<Line>[] = [
    { key: "pick", label: <span className="hidden">Compare</span>, width: "38px", cell: pickCell },
    ...(grouped.length > 0 ? [{ key: "group", label: grouped.map((column) => column.label).join(", "), width: "minmax(270px, 3fr)", cell: (line: Line) => (line.getIsGrouped() ? named(line) : "") }] : []),
    ...made,
  ];
  return (
    <Grid
      label="Trials"
      columns={all}
      total={Math.max(lines.length, total)}
      row={(at) => lines[at]}
      sort={sort}
      onSort={(key, order) => onSort({ key, order })}
      height={Math.max(320, window.innerHeight - 290)}
      rowHeight={31}
    />
  );
}

/** A group by the value that its trials have in common: `Variant: spray`. */
function groupName(line: Line, columns: readonly TrialColumn[]): string {
  const column = columns.find((one) => one.key === line.groupingColumnId);
  return `${column?.label ?? ""}: ${column?.say(line.getValue(column.key) as Value) ?? ""}`;
}
