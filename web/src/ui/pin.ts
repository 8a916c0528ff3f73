import * as api from "../api/client";
import type { Trial } from "../api/types";

/** Adds a plot to the end of a trial's note, as a link that the notebook draws. */
export async function pinPlot(trial: Trial, title: string, query: string): Promise<void> {
  const link = `![${title.replaceAll("]", "")}](plot:${query})`;
  if (trial.note.includes(link)) return;
  const note = `${trial.note.trimEnd()}${trial.note.trim() ? "\n\n" : ""}${link}\n`;
  await api.change(String(trial.id), { note });
}
