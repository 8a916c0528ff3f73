/** Where problems of a sweep are in its description. */
import type { Problem } from "../api/problem";

/** A problem as the server sends it; its place begins with the document that its line is of. */
interface Placed extends Problem {
  place?: string;
}

/** The place of a key in a text, as the only line that has it at all; lines and columns count from 1. */
function placeOf(key: string, text: string): { line: number; column: number } | undefined {
  const bare = key.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  // The key itself, or the last part of a path, up to a colon.
  const pattern = new RegExp(`(?:^|[\\s{,.\\]"'])(${bare})["']?\\s*:`);
  const found = text.split("\n").flatMap((line, at) => {
    const match = pattern.exec(line.replace(/#.*$/, ""));
    return match ? [{ line: at + 1, column: match.index + match[0].indexOf(match[1] ?? "") + 1 }] : [];
  });
  return found.length === 1 ? found[0] : undefined;
}

/**
 * Problems with the lines of the description alone: what an axis or a variant sets has the line of
 * its key, if one line has it, and what the scenario has wrong says so.
 */
export function inDescription(problem: Problem, text: string): Problem {
  const problems = (problem.problems ?? []).map((one: Placed): Problem => {
    if (one.place === undefined || one.place.startsWith("sweep:")) return one;
    const rest = { ...one };
    delete rest.line;
    delete rest.column;
    if (one.place.startsWith("scenario:")) return { ...rest, message: `${one.message} (line ${one.line ?? 1} of the scenario)` };
    const key = /`([^`]+)`/.exec(one.message)?.[1];
    const place = key === undefined ? undefined : placeOf(key, text);
    return place ? { ...rest, ...place } : rest;
  });
  return { ...problem, problems };
}
