/** How a trial was run, in words. */
import type { Trial } from "../api/types";

/** What the page reads of `manifest.json`. */
interface Manifest {
  started_utc?: string;
  tenter_version?: string;
  commit?: string | null;
  command?: string[];
  machine?: { cpu_model?: string | null };
}

type About = Pick<Trial, "fabric" | "seed" | "digest" | "summary"> & { manifest?: unknown };

/** Names and texts; what is not known is left out. */
export function aboutTrial(trial: About): [string, string][] {
  const manifest = (trial.manifest ?? {}) as Manifest;
  const run = [manifest.started_utc, manifest.machine?.cpu_model ? `on ${manifest.machine.cpu_model}` : ""].filter(Boolean).join(", ");
  const program = trial.summary ? [`Tenter ${trial.summary.tenter_version}`, manifest.commit ?? ""].filter(Boolean).join(", ") : "";
  const all: [string, string | null | undefined][] = [
    ["Scenario", trial.summary?.scenario],
    ["Fabric", trial.fabric],
    ["Seed", trial.seed],
    ["Digest", trial.digest],
    ["Program", program],
    ["Run", run],
    ["Command", manifest.command?.join(" ")],
  ];
  return all.filter((one): one is [string, string] => Boolean(one[1]));
}
