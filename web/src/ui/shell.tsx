/** The frame of the page and of reports: navigation, and the page that the address names. */
import { type ReactNode, Suspense, useEffect, useRef } from "react";
import { Boundary } from "./boundary";
import type { Route } from "./router";
import { choose, type Choice, useChoice } from "./theme";

export interface Entry {
  label: string;
  href: string;
  on: boolean;
  /** How many there are. */
  count?: number;
}

export interface Links {
  title: string;
  list: Entry[];
}

interface Props {
  route: Route;
  brand: ReactNode;
  links: Links[];
  foot: ReactNode;
  children: ReactNode;
}

export function Shell({ route, brand, links, foot, children }: Props) {
  const main = useRef<HTMLElement>(null);
  const page = route.parts.join("/");
  const first = useRef(true);
  // After a change of page the keyboard and screen readers start at its top.
  useEffect(() => {
    if (first.current) {
      first.current = false;
      return;
    }
    window.scrollTo(0, 0);
    main.current?.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });
  }, [page]);
  return (
    <>
      <a className="skip" href="#main" onClick={(event) => {
        event.preventDefault();
        main.current?.focus();
      }}>
        Skip to the page
      </a>
      <div className="shell">
        <header className="side">
          <div className="brand">{brand}</div>
          {links.map((group) => (
            <nav key={group.title} aria-label={group.title}>
              <h2>{group.title}</h2>
              {group.list.map((entry) => (
                <a key={entry.href + entry.label} href={entry.href} aria-current={entry.on ? "page" : undefined}>
                  {entry.label}
                  {entry.count ? <small>{entry.count}</small> : null}
                </a>
              ))}
            </nav>
          ))}
          <div className="foot">
            <Colours />
            {foot}
          </div>
        </header>
        <main id="main" ref={main} tabIndex={-1}>
          <Boundary what="page" of={[page, route.query.toString()]}>
            <Suspense fallback={<p className="empty">Loading…</p>}>{children}</Suspense>
          </Boundary>
        </main>
      </div>
    </>
  );
}

function Colours() {
  const choice = useChoice();
  return (
    <label>
      <span className="hidden">Colours</span>
      <select value={choice} onChange={(event) => choose(event.target.value as Choice)} aria-label="Colours">
        <option value="auto">System colours</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  );
}
