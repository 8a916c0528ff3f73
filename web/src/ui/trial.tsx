/** The head of every page about one trial: which trial, its state, and ways to its other pages. */
import { type ReactNode, useCallback, useEffect } from "react";
import * as api from "../api/client";
import { useChanges } from "../api/events";
import type { Trial } from "../api/types";
import { isReport } from "../embedded";
import { ALL, RECENT } from "../views";
import { TrialChoice } from "./choice";
import { useLoad } from "./load";
import { Empty, Page, Pending, Select, State } from "./parts";
import { rememberTrial } from "./picked";
import { go, href } from "./router";

interface Props {
  id: string | undefined;
  page: "statistics" | "fabric" | "notebook";
  title: string;
  /** The part of the page that is open. */
  part?: string | undefined;
  /** The rest of its address, as an other trial has it. */
  rest?: string[];
  children: (trial: Trial, reload: () => void) => ReactNode;
}

export function TrialPage({ id, page, title, part, rest = [], children }: Props) {
  const others = useLoad("trials:recent", () => api.trials(isReport ? ALL : RECENT));
  const latest = others.data?.rows[0]?.id;
  const found = id ?? (latest === undefined ? undefined : String(latest));
  const trial = useLoad(found ? `trial:${found}` : null, (signal) => api.trial(found ?? "", signal));
  const { reload } = trial;
  useChanges("trial", useCallback((changed: string) => {
    if (changed === found || changed === "") reload();
  }, [found, reload]));
  useEffect(() => {
    if (found && trial.data) rememberTrial(found);
  }, [found, trial.data]);
  if (!trial.data || String(trial.data.id) !== found) {
    if (!found && others.data) {
      return (
        <Page title={title}>
          <Empty title="No trials yet">
            <a className="button primary" href={href(["configure"])}>
              Configure a trial
            </a>
          </Empty>
        </Page>
      );
    }
    return (
      <Page title={title}>
        <Pending loading={!trial.problem && !others.problem} problem={trial.problem ?? others.problem} />
        {trial.problem ? <a href={href([])}>Workspace</a> : null}
      </Page>
    );
  }
  const data = trial.data;
  // The same part of the page, of another trial.
  const to = (next: string) => ["trials", next, page, ...rest];
  const rows = others.data?.rows ?? [];
  const options = (rows.some((row) => row.id === data.id) ? rows : [data, ...rows]).map((row) => ({ value: String(row.id), label: row.name }));
  // A report is about its trials, whatever is shown of them.
  const heading = isReport ? data.summary?.scenario || data.name : title;
  return (
    <Page
      title={heading}
      of={isReport ? [heading, part ?? title] : [part ?? title, data.name]}
      lead={
        <>
          {heading === data.name ? "" : data.name} {isReport && data.seed ? `seed ${data.seed}` : ""} <State state={data.state} />
          {data.tags.map((tag) => (
            <a key={tag} className="tag" href={href([], { tag })}>
              {tag}
            </a>
          ))}
        </>
      }
      actions={
        <>
          {!isReport ? <TrialChoice label="Another trial" placeholder="Another trial…" without={[String(data.id)]} onChoose={(next) => go(to(next))} /> : null}
          {isReport && options.length > 1 ? <Select label="Trial" hideLabel value={String(data.id)} options={options} onChange={(next) => go(to(next))} /> : null}
          {isReport ? null : (
            <a className="button" href={href(["configure"], { trial: String(data.id) })}>
              Change and run again
            </a>
          )}
        </>
      }
    >
      {typeof data.sweep === "number" ? (
        <p className="note">
          A trial of <a href={href(["sweeps", String(data.sweep)])}>a sweep</a>
          {data.folder ? (
            "."
          ) : (
            <>
              , which keeps the summary and the readings of each trial. With <code>keep: tables</code> in its description it keeps tables, too; run this one again to have them now.
            </>
          )}
        </p>
      ) : null}
      {children(data, reload)}
    </Page>
  );
}
