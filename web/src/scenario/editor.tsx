/** The text of a scenario, with problems marked where they are. */
import { acceptCompletion, autocompletion, type Completion, type CompletionSource, startCompletion } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, HighlightStyle, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { Compartment, EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, hoverTooltip, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "react";
import type { Problem } from "../api/problem";
import type { Theme } from "../draw/theme";
import { useTheme } from "../ui/theme";
import type { Schema } from "./schema";
import { describe, suggest, type Suggestion } from "./suggest";

function looks(theme: Theme) {
  const style = HighlightStyle.define([
    { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: theme.series[0] },
    { tag: [tags.string, tags.content], color: theme.ink },
    { tag: [tags.number, tags.bool, tags.null], color: theme.series[1] },
    { tag: tags.comment, color: theme.soft, fontStyle: "italic" },
    { tag: [tags.separator, tags.squareBracket, tags.brace, tags.punctuation], color: theme.soft },
  ]);
  return [
    syntaxHighlighting(style),
    EditorView.theme(
      {
        "&": { color: theme.ink, backgroundColor: theme.ground },
        ".cm-gutters": { color: theme.soft, backgroundColor: theme.panel, borderRight: `1px solid ${theme.rule}` },
        ".cm-activeLine": { backgroundColor: `${theme.accent}12` },
        ".cm-cursor": { borderLeftColor: theme.ink },
        "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: `${theme.accent}33` },
        ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: `${theme.accent}33`, color: theme.ink },
        ".cm-completionDetail": { color: theme.soft, fontStyle: "normal" },
        ".cm-tooltip": { backgroundColor: theme.panel, color: theme.ink, border: `1px solid ${theme.rule}` },
      },
      { dark: theme.ground === "#12171e" },
    ),
  ];
}

interface Props {
  text: string;
  problems: Problem[];
  height: number;
  label?: string;
  /** By this keys and words are completed, and explained under the pointer. */
  schema?: Schema | undefined;
  onText: (text: string) => void;
}

export function Editor({ text, problems, height, label = "Scenario, YAML", schema, onText }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const report = useRef(onText);
  const known = useRef(schema);
  const theme = useTheme();
  const colours = useRef(new Compartment());
  useEffect(() => {
    report.current = onText;
    known.current = schema;
  }, [onText, schema]);
  useEffect(() => {
    if (!place.current) return undefined;
    const made = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: text,
        extensions: [
          lineNumbers(),
          history(),
          drawSelection(),
          highlightActiveLine(),
          bracketMatching(),
          indentUnit.of("  "),
          autocompletion({ override: [completed(() => known.current)], icons: false, selectOnOpen: false, interactionDelay: 0 }),
          explained(() => known.current),
          keymap.of([{ key: "Tab", run: acceptCompletion }, ...defaultKeymap, ...historyKeymap, indentWithTab]),
          yaml(),
          lintGutter(),
          colours.current.of(looks(theme)),
          EditorView.contentAttributes.of({ "aria-label": `${label}. Escape, then Tab leaves the editor.`, spellcheck: "false" }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) report.current(update.state.doc.toString());
          }),
        ],
      }),
    });
    // The scrolling part itself takes the focus, so that long lines can be read with keys.
    made.scrollDOM.tabIndex = 0;
    view.current = made;
    return () => made.destroy();
    // The editor is made once; what changes later reaches it as a transaction.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);
  useEffect(() => {
    const now = view.current;
    if (!now || now.state.doc.toString() === text) return;
    now.dispatch({ changes: difference(now.state.doc.toString(), text) });
  }, [text]);
  useEffect(() => {
    view.current?.dispatch({ effects: colours.current.reconfigure(looks(theme)) });
  }, [theme]);
  useEffect(() => {
    const now = view.current;
    if (!now) return;
    const { doc } = now.state;
    const found = problems.flatMap((problem): Diagnostic[] => {
      if (!problem.line || problem.line > doc.lines) return [];
      const line = doc.line(problem.line);
      const from = Math.min(line.from + Math.max((problem.column ?? 1) - 1, 0), line.to);
      const word = /^[^\s,#}\]]+/.exec(doc.sliceString(from, line.to))?.[0].length ?? 0;
      const message = problem.help ? `${problem.message}\n${problem.help}` : problem.message;
      return [{ from, to: from + word, severity: "error", message }];
    });
    now.dispatch(setDiagnostics(now.state, found));
  }, [problems]);
  return <div className="editor" ref={place} style={{ height }} />;
}

/** A suggestion as the editor lists it; a key gets its colon, and then what it may be. */
function option(one: Suggestion, colon: boolean): Completion {
  return {
    label: one.text,
    ...(one.note ? { detail: one.note } : {}),
    ...(one.meaning ? { info: one.meaning } : {}),
    apply: (view, _, from, to) => {
      const insert = one.kind === "key" && colon ? `${one.text}: ` : one.text;
      view.dispatch({ changes: { from, to, insert }, selection: { anchor: from + insert.length }, userEvent: "input.complete" });
      if (one.kind === "key" && colon) startCompletion(view);
    },
  };
}

/** Keys and words that the schema has at the cursor: while a word is written, or when asked for by Ctrl-Space. */
const completed = (schema: () => Schema | undefined): CompletionSource => (context) => {
  const { pos, state } = context;
  const root = schema();
  if (!root || !(context.explicit || context.matchBefore(/[a-zA-Z][\w.-]*$/))) return null;
  const found = suggest(root, state.doc.toString(), pos);
  if (!found) return null;
  const colon = !/^[\w.-]*\s*:/.test(state.sliceDoc(pos, state.doc.lineAt(pos).to));
  return { from: found.from, options: found.list.map((one, at) => ({ ...option(one, colon), boost: -at / 100 })), validFor: /^[\w.-]*$/ };
};

/** What the key under the pointer means. */
const explained = (schema: () => Schema | undefined) =>
  hoverTooltip((view, pos) => {
    const root = schema();
    const word = view.state.wordAt(pos);
    if (!word) return null;
    const line = view.state.doc.lineAt(pos);
    const found = root && describe(root, view.state.doc.toString(), line.number, pos - line.from + 1);
    if (!found) return null;
    const part = (kind: "b" | "p" | "small", said: string) => {
      const element = document.createElement(kind);
      element.textContent = said;
      return element;
    };
    const dom = document.createElement("div");
    dom.className = "explained";
    dom.append(part("b", found.name), part("p", found.meaning));
    if (found.fallback) dom.append(part("small", `Default: ${found.fallback}`));
    if (found.origin) dom.append(part("small", `Origin: ${found.origin}`));
    return { pos: word.from, end: word.to, create: () => ({ dom }) };
  });

/** The stretch that differs, so that the cursor and the history outlive a change by the form. */
function difference(before: string, after: string): { from: number; to: number; insert: string } {
  let from = 0;
  const most = Math.min(before.length, after.length);
  while (from < most && before[from] === after[from]) from += 1;
  let tail = 0;
  while (tail < most - from && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  return { from, to: before.length - tail, insert: after.slice(from, after.length - tail) };
}
