/** A sweep that is described and queued. */
import { useState } from "react";
import * as api from "../api/client";
import { problemOf, type Problem } from "../api/problem";
import { Editor } from "../scenario/editor";
import { inDescription } from "../scenario/sweep-problems";
import { useLoad } from "../ui/load";
import { Page, Problems, Select } from "../ui/parts";
import { go } from "../ui/router";

const FIRST = `name: uplinks
# The scenario is the one chosen above; \`scenario: preset:NAME\` names a preset.
variants:                     # what is compared
  ecmp: {}
  spray:
    fabric.load_balancing: {kind: random-spray}
    endpoint.nic.loss_recovery: {kind: selective-repeat, reorder: 64}
axes:                         # what is varied
  fabric.uplink_rate: [200Gbps, 400Gbps]
seeds: 3
readings:                     # what is read of each trial
  - {name: JCT, query: max(jobs.jct_ns)}
`;

const DRAFT = "tenter-draft";

export function NewSweep() {
  const [text, setText] = useState(FIRST);
  const [from, setFrom] = useState(window.sessionStorage.getItem(DRAFT) ? "draft" : "preset:leaf-spine-64");
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const presets = useLoad("presets", api.presets);
  const trials = useLoad("sweep:trials", () => api.trials({ sort: "created", order: "desc", limit: 50 }));
  const start = async () => {
    setBusy(true);
    try {
      const sweep = await api.startSweep({ text, scenario: await scenarioOf(from) });
      go(["sweeps", String(sweep.id)]);
    } catch (error) {
      setProblem(inDescription(problemOf(error), text));
    }
    setBusy(false);
  };
  const options = [
    ...(window.sessionStorage.getItem(DRAFT) ? [{ value: "draft", label: "The draft under Configure" }] : []),
    ...(trials.data?.rows ?? []).map((row) => ({ value: `trial:${row.id}`, label: `Trial ${row.name}` })),
    ...(presets.data ?? []).map((preset) => ({ value: `preset:${preset.name}`, label: `Preset ${preset.name}` })),
  ];
  return (
    <Page
      title="New sweep"
      lead="What is compared, the keys that are varied, and what is read of each trial."
      actions={
        <button type="button" className="primary" disabled={busy} onClick={() => void start()}>
          Run sweep
        </button>
      }
    >
      <div className="controls">
        <Select label="Scenario" value={from} options={options} onChange={setFrom} />
      </div>
      {problem ? <Problems problems={[problem]} /> : null}
      <Editor text={text} problems={problem?.problems ?? []} height={420} onText={setText} label="Sweep, YAML" />
    </Page>
  );
}

async function scenarioOf(from: string): Promise<string> {
  const [kind = "", name = ""] = [from.slice(0, from.indexOf(":")), from.slice(from.indexOf(":") + 1)];
  if (kind === "preset") return (await api.preset(name)).text;
  if (kind === "trial") return api.config(name);
  return window.sessionStorage.getItem(DRAFT) ?? "";
}
