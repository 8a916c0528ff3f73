/** Small parts of pages. */
import { type ReactNode, useEffect, useId, useRef } from "react";
import type { Problem } from "../api/problem";
import { tabTitle } from "./format";

/** A page; `of` are the words by which one of several browser tabs is found: the part that is open, and of what. */
export function Page(props: { title: string; of?: readonly string[]; lead?: ReactNode; actions?: ReactNode; children: ReactNode }) {
  const named = tabTitle(props.of ?? [props.title]);
  useEffect(() => {
    document.title = named;
  }, [named]);
  return (
    <>
      <header className="page-head">
        <div>
          <h1 tabIndex={-1}>{props.title}</h1>
          {props.lead ? <p className="lead">{props.lead}</p> : null}
        </div>
        {props.actions ? <div className="actions">{props.actions}</div> : null}
      </header>
      {props.children}
    </>
  );
}

export function Problems({ problems }: { problems: Problem[] }) {
  if (problems.length === 0) return null;
  return (
    <div className="problems" role="alert">
      {problems.flatMap((one) => (one.problems?.length ? one.problems : [one])).map((problem, at) => (
        <p key={at}>
          <b>{problem.message}</b>
          {problem.line ? <small> line {problem.line}</small> : null}
          {problem.help ? <span className="help">{problem.help}</span> : null}
        </p>
      ))}
    </div>
  );
}

/** What a page shows in place of data that is on its way, missing, or refused. */
export function Pending(props: { problem?: Problem | undefined; loading: boolean; empty?: ReactNode }) {
  if (props.problem) return <Problems problems={[props.problem]} />;
  if (props.loading) {
    return (
      <p className="empty" role="status">
        Loading…
      </p>
    );
  }
  return props.empty ? <div className="empty">{props.empty}</div> : null;
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty-box">
      <p>
        <b>{title}</b>
      </p>
      {children}
    </div>
  );
}

export function State({ state }: { state: string }) {
  return <span className={`state ${state}`}>{state}</span>;
}

export interface Tab {
  id: string;
  label: string;
  href: string;
}

/** Tabs are links: each has an address, and the browser's own keys work. */
export function Tabs({ tabs, current, label }: { tabs: Tab[]; current: string; label: string }) {
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map((tab) => (
        <a key={tab.id} href={tab.href} aria-current={tab.id === current ? "page" : undefined}>
          {tab.label}
        </a>
      ))}
    </nav>
  );
}

export function Tile({ label, value, note }: { label: string; value: ReactNode; note?: ReactNode }) {
  return (
    <div className="tile">
      <dt>{label}</dt>
      <dd>{value}</dd>
      {note ? <dd className="about">{note}</dd> : null}
    </div>
  );
}

export function Select<V extends string>(props: {
  label: string;
  value: V;
  options: { value: V; label: string }[];
  onChange: (value: V) => void;
  hideLabel?: boolean;
}) {
  const id = useId();
  return (
    <span className="field">
      <label htmlFor={id} className={props.hideLabel ? "hidden" : undefined}>
        {props.label}
      </label>
      <select id={id} value={props.value} onChange={(event) => props.onChange(event.target.value as V)}>
        {props.options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </span>
  );
}

export function Search(props: { label: string; value: string; placeholder?: string; onChange: (value: string) => void }) {
  const id = useId();
  return (
    <span className="field grow">
      <label htmlFor={id} className="hidden">
        {props.label}
      </label>
      <input
        id={id}
        type="search"
        value={props.value}
        placeholder={props.placeholder ?? props.label}
        onChange={(event) => props.onChange(event.target.value)}
      />
    </span>
  );
}

export function Meter({ value, label }: { value: number; label: string }) {
  const share = Math.min(Math.max(value, 0), 1);
  return (
    <div className="meter" role="progressbar" aria-label={label} aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round(share * 100)}>
      <i style={{ width: `${share * 100}%` }} />
    </div>
  );
}

/** Asks before something is deleted; Escape and the first button leave all as it is. */
export function Confirm(props: { question: string; yes: string; onYes: () => void; onNo: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} onClose={props.onNo} aria-label={props.question}>
      <p>{props.question}</p>
      <div className="actions">
        <button type="button" onClick={props.onNo}>
          Keep
        </button>
        <button type="button" className="danger" onClick={props.onYes}>
          {props.yes}
        </button>
      </div>
    </dialog>
  );
}
