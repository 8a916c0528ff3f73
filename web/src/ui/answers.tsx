/** The answers of a trial, as the command prints them. */
import type { AnswerTable, Section } from "../api/types";
import { csv, download, fileName } from "../draw/save";
import { useShown } from "./router";
import { arranged, clicked, ORDER } from "./sorting";
import { text } from "./view-kinds";

export function Answer({ section, trial }: { section: Section; trial: string }) {
  return (
    <section>
      <h2>{section.title}</h2>
      {section.lines.map((line, at) => (
        <p className="soft" key={at}>
          {line}
        </p>
      ))}
      {section.tables.map((table, at) =>
        table.columns.length > 0 ? (
          <Rows key={at} table={table} title={at > 0 && !table.caption ? `${section.title}, table ${at + 1}` : section.title} trial={trial} />
        ) : (
          <p className="soft" key={at}>
            {table.caption}
          </p>
        ),
      )}
      {section.remark ? <p className="soft remarks">{section.remark}</p> : null}
    </section>
  );
}

/** Shorter tables need no filter. */
const FILTERED = 8;

function Rows({ table, title, trial }: { table: AnswerTable; title: string; trial: string }) {
  const heads = table.columns.map((column) => (column.unit ? `${column.name} (${column.unit})` : column.name));
  const align = (at: number) => (table.columns[at]?.number ? "n" : undefined);
  const name = table.caption || title;
  const [sort, setSort] = useShown(`${fileName(name)}.order`, ORDER);
  const [word, setWord] = useShown(`${fileName(name)}.rows`, text);
  const rows = arranged(table.rows, sort, word);
  const turned = (at: number) => (sort?.column !== at ? undefined : sort.direction === 1 ? "ascending" : "descending");
  return (
    <>
      {table.caption ? <h3>{table.caption}</h3> : null}
      <div className="scroll" tabIndex={0} role="region" aria-label={table.caption ? `${table.caption} of ${title}` : title}>
        <table data-table="summary">
          <thead>
            <tr>
              {table.columns.map((column, at) => (
                <th key={at} scope="col" className={align(at)} aria-sort={turned(at)}>
                  <Head name={column.name} unit={column.unit} onClick={table.rows.length > 1 ? () => setSort(clicked(sort, at)) : undefined} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, at) => (
              <tr key={at}>
                {row.map((cell, column) => (
                  <td key={column} className={align(column)}>
                    {cell}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div className="tools">
        {table.rows.length >= FILTERED ? (
          <>
            <input type="search" value={word} placeholder="Filter rows" aria-label={`Filter the rows of ${name}`} onChange={(event) => setWord(event.target.value)} />
            <span className="soft" role="status">
              {word ? `${rows.length} of ${table.rows.length} rows` : ""}
            </span>
          </>
        ) : null}
        <button type="button" onClick={() => download(`${fileName(`${trial}-${name}`)}.csv`, csv(heads, rows))}>
          CSV
        </button>
      </div>
    </>
  );
}

function Head({ name, unit, onClick }: { name: string; unit: string; onClick: (() => void) | undefined }) {
  const words = (
    <>
      {name}
      <small>{unit}</small>
    </>
  );
  return onClick && name ? (
    <button type="button" className="sorter" onClick={onClick}>
      {words}
    </button>
  ) : (
    words
  );
}
