/** The requests of the page, one function for each route. */
import createClient from "openapi-fetch";
import type { paths } from "../api.gen";
import { type Problem, Refused } from "./problem";
import type * as T from "./types";

const client = createClient<paths>({ baseUrl: "", headers: { "Content-Type": "application/json" } });

/** What a request gives, or why it was refused. */
async function take<D>(request: Promise<{ data?: D; error?: unknown; response: Response }>): Promise<D> {
  const { data, error, response } = await request;
  if (response.ok) return data as D;
  throw new Refused(problemIn(error, response.status), response.status);
}

function problemIn(error: unknown, status: number): Problem {
  const said = (error as { error?: Problem } | undefined)?.error;
  return said ?? { message: `the server answers ${status}` };
}

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
  if (!answer.ok) throw new Refused(problemIn(await answer.json().catch(() => undefined), answer.status), answer.status);
  return (await answer.json()) as R;
}
const get = <R>(path: string, query?: Query, signal?: AbortSignal) =>
  call<R>("GET", path, { ...(query ? { query } : {}), ...(signal ? { signal } : {}) });

const one = encodeURIComponent;
const of = (id: string) => ({ path: { id: Number(id) } });
const aborted = (signal: AbortSignal | undefined) => (signal ? { signal } : {});

export const about = () => take(client.GET("/api/v1/about"));
export const schema = () => take(client.GET("/api/v1/schema"));
export const presets = () => take(client.GET("/api/v1/presets"));
export const preset = (name: string) => take(client.GET("/api/v1/presets/{name}", { params: { path: { name } } }));
export const check = (text: string, signal?: AbortSignal) => take(client.POST("/api/v1/check", { body: { text }, ...aborted(signal) }));
export const fabricOf = (text: string, signal?: AbortSignal) => call<T.Fabric>("POST", "/fabric", { body: { text }, ...aborted(signal) });
export const mappingOf = (text: string, signal?: AbortSignal) => call<T.Mapping>("POST", "/mapping", { body: { text }, ...aborted(signal) });

export type TrialQuery = NonNullable<paths["/api/v1/trials"]["get"]["parameters"]["query"]>;
export const trials = (query: TrialQuery, signal?: AbortSignal) => take(client.GET("/api/v1/trials", { params: { query }, ...aborted(signal) }));
export const trial = (id: string, signal?: AbortSignal) => take(client.GET("/api/v1/trials/{id}", { params: of(id), ...aborted(signal) }));
export const start = (body: { text: string; tags: string[] }) => take(client.POST("/api/v1/trials", { body }));
export const change = (id: string, body: { name?: string; tags?: string[]; note?: string }) =>
  take(client.PATCH("/api/v1/trials/{id}", { params: of(id), body }));
export const cancel = (id: string) => take(client.POST("/api/v1/trials/{id}/cancel", { params: of(id) }));
export const remove = (id: string) => take(client.DELETE("/api/v1/trials/{id}", { params: of(id) }));
export const config = (id: string) => take(client.GET("/api/v1/trials/{id}/config", { params: of(id), parseAs: "text" }));

export type RowsQuery = NonNullable<paths["/api/v1/trials/{id}/tables/{table}"]["get"]["parameters"]["query"]>;
export const tables = (id: string) => take(client.GET("/api/v1/trials/{id}/tables", { params: of(id) }));
export const table = (id: string, name: string, query: RowsQuery) =>
  take(client.GET("/api/v1/trials/{id}/tables/{table}", { params: { path: { id: Number(id), table: name }, query } })) as Promise<T.TablePage>;
/** All rows that fit as CSV. */
export const tableCsv = (id: string, name: string, query: RowsQuery) =>
  take(
    client.GET("/api/v1/trials/{id}/tables/{table}", {
      params: { path: { id: Number(id), table: name }, query },
      headers: { Accept: "text/csv" },
      parseAs: "text",
    }),
  ) as Promise<string>;
export const cdf = (id: string, query: Query) => get<T.Cdf>(`/trials/${one(id)}/cdf`, query);
export const timeline = (id: string, query: Query, signal?: AbortSignal) => get<T.Timeline>(`/trials/${one(id)}/timeline`, query, signal);
export const port = (id: string, name: string, query: Query) => get<T.Series>(`/trials/${one(id)}/ports/${one(name)}`, query);
export const heat = (id: string, query: Query) => get<T.Heat>(`/trials/${one(id)}/ports-heat`, query);
export const loads = (id: string, query: Query, signal?: AbortSignal) => get<T.LoadedFabric>(`/trials/${one(id)}/fabric`, query, signal);
export const heldUp = (id: string) => get<T.HeldUp>(`/trials/${one(id)}/held-up`);
export const compare = (ids: string[]) => get<T.Compare>("/compare", { ids: ids.join(",") });
export const sweeps = () => get<T.SweepRow[]>("/sweeps");
export const sweep = (id: string) => get<T.Sweep>(`/sweeps/${one(id)}`);
export const startSweep = (body: { text: string; scenario?: string }) => call<T.SweepRow>("POST", "/sweeps", { body });
export const cancelSweep = (id: string) => call<unknown>("POST", `/sweeps/${one(id)}/cancel`);
export const studies = () => get<T.StudyRow[]>("/studies");
export const study = (name: string) => get<T.Study>(`/studies/${one(name)}`);

/** Addresses of downloads. */
export const files = {
  parquet: (id: string, name: string) => address(`/trials/${one(id)}/files/${one(name)}.parquet`),
  trace: (id: string) => address(`/trials/${one(id)}/trace.json`),
  report: (id: string) => address(`/trials/${one(id)}/report.html`),
  config: (id: string) => address(`/trials/${one(id)}/config`),
};
