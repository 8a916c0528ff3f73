/** Pictures of a trial's tables. */
import * as api from "../api/client";
import type { Trial } from "../api/types";
import type { TablePicture } from "../pictures/table-picture";
import * as PICTURES from "../pictures/tables";
import type { PartId } from "../views";
import { useLoad } from "./load";
import { Pending } from "./parts";
import { PicturePlot } from "./picture";

/** The pictures by their words. */
export const TABLE_PICTURES: Readonly<Record<string, TablePicture>> = PICTURES;

interface Props {
  trial: Trial;
  /** Pins a picture to the note. */
  onPin?: ((title: string, query: string) => void) | undefined;
}

/** The pictures with which a part of a trial's page ends; `tables` are those that the trial has. */
export function TablePictures({ part, tables, trial, onPin }: Props & { part: PartId; tables: ReadonlySet<string> }) {
  const shown = Object.keys(TABLE_PICTURES).filter((name) => {
    const one = TABLE_PICTURES[name];
    return one?.part === part && tables.has(one.table);
  });
  return shown.map((name) => <TablePictureView key={name} name={name} trial={trial} onPin={onPin} />);
}

/** One picture by its word. */
export function TablePictureView({ name, trial, onPin }: Props & { name: string }) {
  const of = TABLE_PICTURES[name];
  const id = String(trial.id);
  const rows = useLoad(of ? `table-picture:${id}:${name}` : null, () => api.table(id, of?.table ?? "", of?.query ?? {}));
  if (!of || !rows.data) return <Pending loading={rows.loading} problem={rows.problem} />;
  const made = of.picture(rows.data.rows, trial);
  if (!made) return null;
  const plot = <PicturePlot picture={{ title: of.title, ...made }} onPin={onPin ? () => onPin(of.title, name) : undefined} />;
  return of.folded ? (
    <details>
      <summary>
        {of.title}: {made.lead}
      </summary>
      {plot}
    </details>
  ) : (
    plot
  );
}
