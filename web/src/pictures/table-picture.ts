/** Pictures that the page draws from a table of results, without a route of their own. */
import type { RowsQuery } from "../api/client";
import type { Cell, Trial } from "../api/types";
import type { PartId } from "../views";
import type { Spec } from "./spec";

export interface TablePicture {
  title: string;
  /** The part of a trial's page that ends with the picture. */
  part: PartId;
  /** The table with its rows; a trial that has no such table has no such picture. */
  table: string;
  /** Columns of the rows, which of them, their order and how many. */
  query: Pick<RowsQuery, "columns" | "where" | "sort" | "order" | "limit">;
  /** Whether only the title is shown until a reader opens the picture. */
  folded?: boolean;
  /** Turns the rows into data of some kind, with a lead for the title; `null` if there is nothing to show. */
  picture: (rows: Cell[][], trial: Pick<Trial, "hosts">) => { lead: string; plot: Spec } | null;
}
