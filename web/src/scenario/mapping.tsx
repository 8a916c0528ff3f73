/** Port mapping: which host, and so which NIC and port, each rank has. */
import { type DragEvent, useState } from "react";
import * as api from "../api/client";
import type { Mapping as Places } from "../api/types";
import { useLoad } from "../ui/load";
import { Pending, Select } from "../ui/parts";
import { set } from "./edit";

interface Props {
  text: string;
  /** Whether the text is known to have no problems. */
  valid: boolean;
  broken: boolean;
  onText: (text: string) => void;
}

export function Mapping({ text, valid, broken, onText }: Props) {
  const [at, setAt] = useState(0);
  const places = useLoad(valid ? `mapping:${text}` : null, (signal) => api.mappingOf(text, signal));
  if (!places.data) {
    return !broken ? (
      <Pending loading={!places.problem} problem={places.problem} />
    ) : (
      <p className="empty">Ranks have their places once the scenario has no problems.</p>
    );
  }
  const jobs = places.data.jobs;
  const job = jobs[Math.min(at, jobs.length - 1)];
  if (!job) return <p className="empty">The scenario has no jobs.</p>;
  const hosts = job.ranks.map((place) => place.host);
  const change = (next: string[]) => onText(set(text, ["jobs", at, "ranks"], next));
  return (
    <section aria-label="Port mapping">
      <p className="soft">
        Drag a rank to another host, or choose a rank and then a host; a host that has a rank gives it in exchange. The mapping is the key{" "}
        <code>jobs[{at}].ranks</code> of the scenario.
      </p>
      {jobs.length > 1 ? (
        <Select label="Job" value={String(at)} options={jobs.map((one, index) => ({ value: String(index), label: one.name }))} onChange={(value) => setAt(Number(value))} />
      ) : null}
      <Board places={places.data} hosts={hosts} onChange={change} />
      <div className="columns">
        <Table places={places.data} at={at} />
        <Paste hosts={hosts} known={places.data.hosts.map((host) => host.name)} onChange={change} />
      </div>
    </section>
  );
}

/** Hosts under their leaves, with the ranks they have. */
function Board({ places, hosts, onChange }: { places: Places; hosts: string[]; onChange: (hosts: string[]) => void }) {
  const [held, setHeld] = useState<number | null>(null);
  const [over, setOver] = useState<string | null>(null);
  const put = (rank: number, host: string) => {
    const next = [...hosts];
    const other = hosts.indexOf(host);
    if (other >= 0) next[other] = hosts[rank] ?? host;
    next[rank] = host;
    setHeld(null);
    setOver(null);
    onChange(next);
  };
  const leaves = new Map<string, string[]>();
  for (const host of places.hosts) {
    const leaf = host.leaf;
    leaves.set(leaf, [...(leaves.get(leaf) ?? []), host.name]);
  }
  const drop = (event: DragEvent, host: string) => {
    event.preventDefault();
    const rank = Number(event.dataTransfer.getData("text/plain"));
    if (Number.isInteger(rank) && rank >= 0 && rank < hosts.length) put(rank, host);
  };
  if (places.hosts.length > 512) return <p className="soft">A fabric of {places.hosts.length} hosts is mapped by pasting a list.</p>;
  return (
    <div className="board">
      {[...leaves].map(([leaf, names]) => (
        <div className="leaf" key={leaf}>
          <h2>{leaf || "hosts"}</h2>
          {names.map((name) => {
            const ranks = hosts.flatMap((host, rank) => (host === name ? [rank] : []));
            return (
              <div
                key={name}
                className={over === name ? "slot over" : "slot"}
                data-host={name}
                onDragOver={(event) => {
                  event.preventDefault();
                  setOver(name);
                }}
                onDragLeave={() => setOver(null)}
                onDrop={(event) => drop(event, name)}
              >
                <span>{name}</span>
                <span>
                  {held !== null && !ranks.includes(held) ? (
                    <button type="button" className="link" onClick={() => put(held, name)} aria-label={`Put rank ${held} on ${name}`}>
                      here
                    </button>
                  ) : null}{" "}
                  {ranks.map((rank) => (
                    <button
                      type="button"
                      key={rank}
                      className={held === rank ? "rank held" : "rank"}
                      draggable
                      aria-pressed={held === rank}
                      aria-label={`Rank ${rank} on ${name}`}
                      onClick={() => setHeld(held === rank ? null : rank)}
                      onDragStart={(event) => event.dataTransfer.setData("text/plain", String(rank))}
                    >
                      {rank}
                    </button>
                  ))}
                </span>
              </div>
            );
          })}
        </div>
      ))}
    </div>
  );
}

function Table({ places, at }: { places: Places; at: number }) {
  const ranks = places.jobs[at]?.ranks ?? [];
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Ranks and their ports" style={{ maxHeight: 420 }}>
      <table>
        <thead>
          <tr>
            <th className="n">Rank</th>
            <th>Host</th>
            <th>Leaf</th>
            <th>Port</th>
            <th>Address</th>
          </tr>
        </thead>
        <tbody>
          {ranks.slice(0, 1024).map((place) => (
            <tr key={place.rank}>
              <td className="n">{place.rank}</td>
              <td>{place.host}</td>
              <td>{place.leaf}</td>
              <td>{place.port}</td>
              <td>{place.address ?? "—"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Reads `rank host` lines, or hosts alone in the order of ranks. */
export function readMapping(text: string, ranks: number, known: string[]): { hosts: string[] } | { error: string } {
  const hosts: string[] = [];
  const lines = text.split(/[\n;]+|,(?!\s*\d+\s+\S)/).map((line) => line.trim()).filter(Boolean);
  for (const [at, line] of lines.entries()) {
    const words = line.split(/[\s,:=]+/).filter(Boolean);
    const rank = words.length > 1 ? Number(words[0]) : at;
    const word = words.at(-1) ?? "";
    const name = known.includes(word) ? word : /^\d+$/.test(word) ? known[Number(word)] : undefined;
    if (!Number.isInteger(rank) || rank < 0 || rank >= ranks) return { error: `“${line}”: there are ranks 0 to ${ranks - 1}` };
    if (name === undefined) return { error: `“${line}”: the fabric has no host “${word}”` };
    hosts[rank] = name;
  }
  const missing = Array.from({ length: ranks }, (_, rank) => rank).find((rank) => hosts[rank] === undefined);
  if (missing !== undefined) return { error: `rank ${missing} has no host; list one for each of ${ranks} ranks` };
  return { hosts };
}

function Paste({ hosts, known, onChange }: { hosts: string[]; known: string[]; onChange: (hosts: string[]) => void }) {
  const [typed, setTyped] = useState("");
  const [error, setError] = useState("");
  const apply = () => {
    const read = readMapping(typed, hosts.length, known);
    if ("error" in read) {
      setError(read.error);
      return;
    }
    setError("");
    setTyped("");
    onChange(read.hosts);
  };
  return (
    <div>
      <label htmlFor="paste">Paste a mapping: a host a line in the order of ranks, or “rank host”</label>
      <textarea id="paste" rows={8} value={typed} placeholder={hosts.slice(0, 4).map((host, rank) => `${rank} ${host}`).join("\n")} onChange={(event) => setTyped(event.target.value)} className="mono" />
      {error ? (
        <p className="problems" role="alert">
          {error}
        </p>
      ) : null}
      <div className="actions">
        <button type="button" onClick={apply} disabled={typed.trim() === ""}>
          Apply
        </button>
        <button type="button" onClick={() => onChange([...hosts].reverse())}>
          Reverse
        </button>
      </div>
    </div>
  );
}
