/** What was learned from a trial: a note in Markdown, with plots pinned to it. */
import MarkdownIt from "markdown-it";
import { useEffect, useMemo, useState } from "react";
import * as api from "../api/client";
import { problemOf, type Problem } from "../api/problem";
import type { Trial } from "../api/types";
import { Empty, Problems } from "../ui/parts";
import { TrialPage } from "../ui/trial";
import { PinnedPlot } from "./plots";

// HTML in a note is text: notes may come from elsewhere, with the folder they are in.
const markdown = new MarkdownIt({ html: false, linkify: false });
markdown.validateLink = (address) => /^(https?:|mailto:|#)/i.test(address.trim());
// Pictures from outside would be fetched from there.
markdown.renderer.rules["image"] = (tokens, at) => markdown.utils.escapeHtml(tokens[at]?.content ?? "");

const PIN = /^!\[([^\]]*)\]\(plot:([^)\s]+)\)\s*$/;

type Part = { text: string } | { title: string; address: string };

/** Text and pinned plots, in the order of the note. */
export function partsOf(note: string): Part[] {
  const parts: Part[] = [];
  let text: string[] = [];
  const flush = () => {
    if (text.join("").trim()) parts.push({ text: text.join("\n") });
    text = [];
  };
  for (const line of note.split("\n")) {
    const pin = PIN.exec(line);
    if (!pin) {
      text.push(line);
      continue;
    }
    flush();
    parts.push({ title: pin[1] ?? "", address: pin[2] ?? "" });
  }
  flush();
  return parts;
}

export function Markdown({ text }: { text: string }) {
  const html = useMemo(() => markdown.render(text), [text]);
  return <div className="markdown" dangerouslySetInnerHTML={{ __html: html }} />;
}

export function Notebook({ id }: { id: string | undefined }) {
  return (
    <TrialPage id={id} page="notebook" title="Notebook">
      {(trial, reload) => <Note key={trial.id} trial={trial} reload={reload} />}
    </TrialPage>
  );
}

function Note({ trial, reload }: { trial: Trial; reload: () => void }) {
  const [text, setText] = useState(trial.note);
  const [editing, setEditing] = useState(trial.note === "");
  const [problem, setProblem] = useState<Problem>();
  useEffect(() => {
    if (!editing) setText(trial.note);
  }, [trial.note, editing]);
  const save = () => {
    api.change(String(trial.id), { note: text }).then(
      () => {
        setEditing(false);
        setProblem(undefined);
        reload();
      },
      (error: unknown) => setProblem(problemOf(error)),
    );
  };
  const parts = partsOf(text);
  const remove = (address: string) => {
    const note = text
      .split("\n")
      .filter((line) => PIN.exec(line)?.[2] !== address)
      .join("\n");
    api.change(String(trial.id), { note }).then(reload, (error: unknown) => setProblem(problemOf(error)));
  };
  return (
    <>
      {problem ? <Problems problems={[problem]} /> : null}
      <div className="controls">
        {editing ? (
          <>
            <button type="button" className="primary" onClick={save} disabled={text === trial.note}>
              Save note
            </button>
            {trial.note ? (
              <button
                type="button"
                onClick={() => {
                  setText(trial.note);
                  setEditing(false);
                }}
              >
                Discard changes
              </button>
            ) : null}
          </>
        ) : (
          <button type="button" onClick={() => setEditing(true)}>
            Edit note
          </button>
        )}
      </div>
      {editing ? (
        <p>
          <label htmlFor="note" className="soft">
            Markdown; plots are pinned from Statistics
          </label>
          <textarea id="note" className="mono" rows={12} value={text} onChange={(event) => setText(event.target.value)} />
        </p>
      ) : null}
      {parts.length === 0 && !editing ? <Empty title="No note yet" /> : null}
      {parts.map((part, at) =>
        "text" in part ? (
          <Markdown key={at} text={part.text} />
        ) : (
          <section key={at} aria-label={part.title}>
            <PinnedPlot trial={trial} address={part.address} />
            {editing ? null : (
              <button type="button" className="link" onClick={() => remove(part.address)}>
                Unpin {part.title}
              </button>
            )}
          </section>
        ),
      )}
    </>
  );
}
