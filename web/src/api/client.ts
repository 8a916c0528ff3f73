/** The requests of the page, one function for each route. */
import { type Problem, Refused } from "./problem";
import type * as T from "./types";

const BASE = "/api/v1";

type Query = Record<string, string | number | undefined | null>;

function address(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const tail = new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString();
  return `${BASE}${path}${tail ? `?${tail}` : ""}`;
}

async function call<R>(method: string, path: string, options: { body?: unknown; query?: Query; signal?: AbortSignal } = {}): Promise<R> {
  const answer = await fetch(address(path, options.query), {
    method,
    signal: options.signal ?? null,
    ...(method === "GET" ? {} : { headers: { "Content-Type": "application/json" }, body: JSON.stringify(options.body ?? {}) }),
  });
  const kind = answer.headers.get("Content-Type") ?? "";
  if (!answer.ok) {
    const body = kind.includes("json") ? ((await answer.json()) as { error?: Problem }) : {};
    throw new Refused(body.error ?? { message: `the server answers ${answer.status}` }, answer.status);
  }
  if (answer.status === 204) return undefined as R;
  return (kind.includes("json") ? await answer.json() : await answer.text()) as R;
}

const one = encodeURIComponent;
const get = <R>(path: string, query?: Query, signal?: AbortSignal) =>
  call<R>("GET", path, { ...(query ? { query } : {}), ...(signal ? { signal } : {}) });

export const about = () => get<T.About>("/about");
export const schema = () => get<Record<string, unknown>>("/schema");
export const presets = () => get<T.PresetRow[]>("/presets");
export const preset = (name: string) => get<T.Preset>(`/presets/${one(name)}`);
export const check = (text: string, signal?: AbortSignal) =>
  call<T.Check>("POST", "/check", { body: { text }, ...(signal ? { signal } : {}) });
export const fabricOf = (text: string, signal?: AbortSignal) =>
  call<T.Fabric>("POST", "/fabric", { body: { text }, ...(signal ? { signal } : {}) });
export const mappingOf = (text: string, signal?: AbortSignal) =>
  call<T.Mapping>("POST", "/mapping", { body: { text }, ...(signal ? { signal } : {}) });

export const trials = (query: Query, signal?: AbortSignal) => get<T.Page>("/trials", query, signal);
export const trial = (id: string, signal?: AbortSignal) => get<T.Trial>(`/trials/${one(id)}`, {}, signal);
export const start = (body: { text: string; name?: string; tags?: string[] }) => call<T.Row>("POST", "/trials", { body });
export const change = (id: string, body: { name?: string; tags?: string[]; note?: string }) =>
  call<T.Row>("PATCH", `/trials/${one(id)}`, { body });
export const cancel = (id: string) => call<unknown>("POST", `/trials/${one(id)}/cancel`);
export const remove = (id: string) => call<unknown>("DELETE", `/trials/${one(id)}`);
export const config = (id: string) => get<string>(`/trials/${one(id)}/config`);

export const tables = (id: string) => get<T.TableInfo[]>(`/trials/${one(id)}/tables`);
export const table = (id: string, name: string, query: Query, signal?: AbortSignal) =>
  get<T.TablePage>(`/trials/${one(id)}/tables/${one(name)}`, query, signal);
export const cdf = (id: string, query: Query) => get<T.Cdf>(`/trials/${one(id)}/cdf`, query);
export const timeline = (id: string, query: Query, signal?: AbortSignal) => get<T.Timeline>(`/trials/${one(id)}/timeline`, query, signal);
export const port = (id: string, name: string, query: Query) => get<T.Series>(`/trials/${one(id)}/ports/${one(name)}`, query);
export const heat = (id: string, query: Query) => get<T.Heat>(`/trials/${one(id)}/ports-heat`, query);
export const loads = (id: string, query: Query, signal?: AbortSignal) => get<T.LoadedFabric>(`/trials/${one(id)}/fabric`, query, signal);
export const heldUp = (id: string) => get<T.HeldUp>(`/trials/${one(id)}/held-up`);
export const compare = (ids: string[]) => get<T.Compare>("/compare", { ids: ids.join(",") });
export const sweeps = () => get<T.Sweep[]>("/sweeps");
export const sweep = (id: string) => get<T.Sweep>(`/sweeps/${one(id)}`);
export const startSweep = (text: string) => call<T.Sweep>("POST", "/sweeps", { body: { text } });
export const studies = () => get<T.StudyRow[]>("/studies");
export const study = (name: string) => get<T.Study>(`/studies/${one(name)}`);

/** Addresses of downloads. */
export const files = {
  parquet: (id: string, name: string) => address(`/trials/${one(id)}/files/${one(name)}.parquet`),
  trace: (id: string) => address(`/trials/${one(id)}/trace.json`),
  report: (id: string) => address(`/trials/${one(id)}/report.html`),
  config: (id: string) => address(`/trials/${one(id)}/config`),
};

/** A whole table as CSV. */
export async function tableCsv(id: string, name: string, query: Query): Promise<string> {
  const answer = await fetch(address(`/trials/${one(id)}/tables/${one(name)}`, query), { headers: { Accept: "text/csv" } });
  if (!answer.ok) throw new Refused({ message: `the server answers ${answer.status}` }, answer.status);
  return answer.text();
}
