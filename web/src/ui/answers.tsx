/** The answers of a trial, as the command prints them. */
import type { AnswerTable, Section } from "../api/types";
import { csv, download, fileName } from "../draw/save";

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
          <Rows key={at} table={table} title={section.title} trial={trial} />
        ) : (
          <p className="soft" key={at}>
            {table.caption}
          </p>
        ),
      )}
      {section.remark ? <p className="soft">{section.remark}</p> : null}
    </section>
  );
}

function Rows({ table, title, trial }: { table: AnswerTable; title: string; trial: string }) {
  const heads = table.columns.map((column) => (column.unit ? `${column.name} (${column.unit})` : column.name));
  const align = (at: number) => (table.columns[at]?.number ? "n" : undefined);
  const name = table.caption || title;
  return (
    <>
      {table.caption ? <h3>{table.caption}</h3> : null}
      <div className="scroll" tabIndex={0} role="region" aria-label={table.caption ? `${table.caption} of ${title}` : title}>
        <table data-table="summary">
          <thead>
            <tr>
              {table.columns.map((column, at) => (
                <th key={at} scope="col" className={align(at)}>
                  {column.name}
                  <small>{column.unit}</small>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.map((row, at) => (
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
        <button type="button" onClick={() => download(`${fileName(`${trial}-${name}`)}.csv`, csv(heads, table.rows))}>
          CSV
        </button>
      </div>
    </>
  );
}
