/** A table of any number of rows, of which only those in sight are in the page. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useRef } from "react";

export interface GridColumn<R> {
  key: string;
  label: ReactNode;
  note?: string | undefined;
  /** What the column means, for those who point at it. */
  meaning?: string | undefined;
  width: string;
  number?: boolean;
  sortable?: boolean;
  cell: (row: R) => ReactNode;
}

interface Props<R> {
  label: string;
  columns: GridColumn<R>[];
  total: number;
  row: (index: number) => R | undefined;
  need?: (from: number, to: number) => void;
  sort?: { key: string; order: "asc" | "desc" } | undefined;
  onSort?: (key: string, order: "asc" | "desc") => void;
  height?: number;
  rowHeight?: number;
}

/** No element of a browser is higher, in pixels; rows beyond are reached by sorting and filtering. */
const TALLEST = 33_000_000;

export function Grid<R>(props: Props<R>) {
  const place = useRef<HTMLDivElement>(null);
  const rowHeight = props.rowHeight ?? 29;
  const virtual = useVirtualizer({
    count: Math.min(props.total, Math.floor(TALLEST / rowHeight)),
    getScrollElement: () => place.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  });
  const items = virtual.getVirtualItems();
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];
  const { need } = props;
  useEffect(() => {
    if (props.total > 0) need?.(first, last);
  });
  const template = { gridTemplateColumns: props.columns.map((column) => column.width).join(" ") };
  // All rows are as wide as the least widths of their columns together, so that columns stand in line.
  const least = props.columns.reduce((sum, column) => sum + Number(/(\d+)px/.exec(column.width)?.[1] ?? 0), 0);
  const height = Math.min(props.height ?? 560, props.total * rowHeight + 56);
  const toggle = (key: string, number: boolean | undefined) => {
    const same = props.sort?.key === key;
    const order = same ? (props.sort?.order === "asc" ? "desc" : "asc") : number ? "desc" : "asc";
    props.onSort?.(key, order);
  };
  return (
    <div
      ref={place}
      className="grid"
      style={{ height: Math.max(height, 90) }}
      role="table"
      aria-label={props.label}
      aria-rowcount={props.total + 1}
      tabIndex={0}
    >
      <div className="head" role="rowgroup" style={{ minWidth: least }}>
        <div role="row" aria-rowindex={1} style={template}>
          {props.columns.map((column) => {
            const sorted = props.sort?.key === column.key ? props.sort.order : undefined;
            return (
              <div
                key={column.key}
                role="columnheader"
                className={column.number ? "n" : undefined}
                title={column.meaning}
                aria-sort={sorted === "asc" ? "ascending" : sorted === "desc" ? "descending" : undefined}
              >
                {column.sortable ? (
                  <button type="button" onClick={() => toggle(column.key, column.number)}>
                    {column.label}
                    {sorted ? (sorted === "asc" ? " ↑" : " ↓") : ""}
                    {column.note ? <small>{column.note}</small> : null}
                  </button>
                ) : (
                  <>
                    {column.label}
                    {column.note ? <small>{column.note}</small> : null}
                  </>
                )}
              </div>
            );
          })}
        </div>
      </div>
      <div className="body" role="rowgroup" style={{ height: virtual.getTotalSize(), minWidth: least }}>
        {items.map((item) => {
          const row = props.row(item.index);
          return (
            <div
              key={item.key}
              role="row"
              aria-rowindex={item.index + 2}
              style={{ ...template, height: rowHeight, transform: `translateY(${item.start}px)` }}
            >
              {props.columns.map((column) => (
                <div key={column.key} role="cell" className={column.number ? "n" : undefined}>
                  {row === undefined ? "…" : column.cell(row)}
                </div>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}
