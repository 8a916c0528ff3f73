/** The requests of the page, one function for each route. */
import createClient from "openapi-fetch";
import type { paths } from "../api.gen";
import { answered, embedded } from "../embedded";
import { forPeople, type Problem, Refused } from "./problem";
import type * as T from "./types";

/** The server has one check at a time of each page: a newer one takes the place of an older one. */
const page = Array.from(crypto.getRandomValues(new Uint32Array(2)), (word) => word.toString(16)).join("");
// A report answers itself; the name of its server leads nowhere.
const source = embedded
  ? { baseUrl: "http://report", fetch: (request: Request) => answered(embedded?.answers ?? {}, request.url.slice("http://report".length)) }
  : { baseUrl: "" };
const client = createClient<paths>({ ...source, headers: { "Content-Type": "application/json", "Tenter-Client": page } });

/** What a request gives, or why it was refused. */
async function take<D>(request: Promise<{ data?: D; error?: unknown; response: Response }>): Promise<D> {
  const { data, error, response } = await request;
  if (response.ok) return data as D;
  throw new Refused(problemIn(error, response.status), response.status);
}

function problemIn(error: unknown, status: number): Problem {
  const said = (error as { error?: Problem } | undefined)?.error;
  return said ? forPeople(said) : { message: `the server answers ${status}` };
}

/** The number of a trial or a sweep in an address; what is none has none. */
function number(id: string): number {
  if (/^\d{1,15}$/.test(id)) return Number(id);
  throw new Refused({ message: `there is nothing of the number “${id}”` }, 404);
}
const of = (id: string) => ({ path: { id: number(id) } });
const aborted = (signal: AbortSignal | undefined) => (signal ? { signal } : {});

export const about = () => take(client.GET("/api/v1/about"));
export const schema = () => take(client.GET("/api/v1/schema"));
export const presets = () => take(client.GET("/api/v1/presets"));
export const preset = (name: string) => take(client.GET("/api/v1/presets/{name}", { params: { path: { name } } }));
export const check = (text: string, signal?: AbortSignal) => take(client.POST("/api/v1/check", { body: { text }, ...aborted(signal) }));
export const fabricOf = (text: string, signal?: AbortSignal) => take(client.POST("/api/v1/fabric", { body: { text }, ...aborted(signal) }));
export const mappingOf = (text: string, signal?: AbortSignal) => take(client.POST("/api/v1/mapping", { body: { text }, ...aborted(signal) }));

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
  take(client.GET("/api/v1/trials/{id}/tables/{table}", { params: { path: { id: number(id), table: name }, query } })) as Promise<T.TablePage>;
/** All rows that fit as CSV. */
export const tableCsv = (id: string, name: string, query: RowsQuery) =>
  take(
    client.GET("/api/v1/trials/{id}/tables/{table}", {
      params: { path: { id: number(id), table: name }, query },
      headers: { Accept: "text/csv" },
      parseAs: "text",
    }),
  ) as Promise<string>;

type QueryOf<P extends keyof paths> = paths[P] extends { get: { parameters: { query?: infer Q } } } ? NonNullable<Q> : never;

export const cdf = (id: string, query: QueryOf<"/api/v1/trials/{id}/cdf">) =>
  take(client.GET("/api/v1/trials/{id}/cdf", { params: { ...of(id), query } })) as Promise<T.Cdf>;
export const timeline = (id: string, query: QueryOf<"/api/v1/trials/{id}/timeline">, signal?: AbortSignal) =>
  take(client.GET("/api/v1/trials/{id}/timeline", { params: { ...of(id), query }, ...aborted(signal) }));
export type Metric = NonNullable<QueryOf<"/api/v1/trials/{id}/ports/{port}">["metric"]>;
export const port = (id: string, name: string, query: { metric: Metric; width: number }) =>
  take(client.GET("/api/v1/trials/{id}/ports/{port}", { params: { path: { id: number(id), port: name }, query } })) as Promise<T.Series>;
export const heat = (id: string, query: { metric: Metric; columns: number }) => take(client.GET("/api/v1/trials/{id}/ports-heat", { params: { ...of(id), query } }));
export const loads = (id: string, query: { time?: number }, signal?: AbortSignal) =>
  take(client.GET("/api/v1/trials/{id}/fabric", { params: { ...of(id), query }, ...aborted(signal) }));
export const live = (id: string, signal?: AbortSignal) => take(client.GET("/api/v1/trials/{id}/live", { params: of(id), ...aborted(signal) }));
export const heldUp = (id: string) => take(client.GET("/api/v1/trials/{id}/held-up", { params: of(id) }));
export const pictures = (id: string, group: string) => take(client.GET("/api/v1/trials/{id}/pictures", { params: { ...of(id), query: { group } } }));
export const comparePictures = (ids: string[]) => take(client.GET("/api/v1/compare/pictures", { params: { query: { ids: ids.join(",") } } }));
export type MeasuredQuery = paths["/api/v1/compare/measured"]["post"]["requestBody"]["content"]["application/json"];
/** Trials beside files of measurements. */
export const measured = (body: MeasuredQuery) => take(client.POST("/api/v1/compare/measured", { body }));
export const compare = (ids: string[]) => take(client.GET("/api/v1/compare", { params: { query: { ids: ids.join(",") } } })) as Promise<T.Compare>;
export const sweeps = () => take(client.GET("/api/v1/sweeps"));
export const sweep = (id: string) => take(client.GET("/api/v1/sweeps/{id}", { params: of(id) }));
/** What sweeps vary and read, by which the places of trials are named. */
export const sweepDesigns = () => take(client.GET("/api/v1/sweep-designs"));
export const sweepsTogether = (ids: string) => take(client.GET("/api/v1/sweeps-together", { params: { query: { ids } } }));
export const startSweep = (body: { text: string; scenario?: string }) => take(client.POST("/api/v1/sweeps", { body }));
export const cancelSweep = (id: string) => take(client.POST("/api/v1/sweeps/{id}/cancel", { params: of(id) }));
export const studies = () => take(client.GET("/api/v1/studies"));
export const study = (name: string) => take(client.GET("/api/v1/studies/{name}", { params: { path: { name } } }));

const folder = (id: string) => `/api/v1/trials/${encodeURIComponent(id)}`;

/** Addresses of downloads. */
export const files = {
  parquet: (id: string, name: string) => `${folder(id)}/files/${encodeURIComponent(name)}.parquet`,
  trace: (id: string) => `${folder(id)}/trace.json`,
  report: (id: string) => `${folder(id)}/report.html`,
  config: (id: string) => `${folder(id)}/config`,
};
