/** The shell: navigation, and the page that the address names. */
import { Suspense, useEffect, useRef } from "react";
import * as api from "./api/client";
import { useConnected } from "./api/events";
import { Compare } from "./pages/compare";
import { FabricPage } from "./pages/fabric";
import { Notebook } from "./pages/notebook";
import { RunPage } from "./pages/run";
import { Statistics } from "./pages/statistics";
import { Studies } from "./pages/studies";
import { Workspace } from "./pages/workspace";
import { Boundary } from "./ui/boundary";
import { fetched } from "./ui/fetched";
import { useLoad } from "./ui/load";
import { Empty } from "./ui/parts";
import { lastTrial, usePicked } from "./ui/picked";
import { href, type Route, useRoute } from "./ui/router";
import { choose, type Choice, useChoice } from "./ui/theme";

// The editor is as large as all else together, and needed on these pages alone.
const Configure = fetched(() => import("./pages/configure").then((page) => page.Configure));
const Sweeps = fetched(() => import("./pages/sweeps").then((page) => page.Sweeps));

interface Entry {
  label: string;
  href: string;
  on: boolean;
}

function entries(route: Route, compared: string[]): { title: string; list: Entry[] }[] {
  const [first = "", , third = ""] = route.parts;
  const trial = first === "trials" ? route.parts[1] : lastTrial();
  const at = (page: string) => (trial ? href(["trials", trial, page]) : href(["trials"], { page }));
  const on = (page: string) => (first === "trials" && third === page) || (first === "trials" && !third && route.query.get("page") === page);
  return [
    {
      title: "Trials",
      list: [
        { label: "Workspace", href: href([]), on: first === "" },
        { label: "Configure", href: href(["configure"]), on: first === "configure" },
        { label: "Run", href: href(["run"]), on: first === "run" },
      ],
    },
    {
      title: "One trial",
      list: [
        { label: "Statistics", href: at("statistics"), on: on("statistics") },
        { label: "Fabric", href: at("fabric"), on: on("fabric") },
        { label: "Notebook", href: at("notebook"), on: on("notebook") },
      ],
    },
    {
      title: "Many trials",
      list: [
        { label: "Compare", href: href(["compare"], { ids: compared.join(",") }), on: first === "compare" },
        { label: "Sweeps", href: href(["sweeps"]), on: first === "sweeps" },
        { label: "Studies", href: href(["studies"]), on: first === "studies" },
      ],
    },
  ];
}

function Side({ route }: { route: Route }) {
  const about = useLoad("about", api.about);
  const choice = useChoice();
  const connected = useConnected();
  const picked = usePicked();
  return (
    <div className="side">
      <div className="brand">
        Tenter
        <small title={about.data?.folder}>{about.data ? about.data.folder.split("/").slice(-2).join("/") : ""}</small>
      </div>
      {entries(route, picked).map((group) => (
        <nav key={group.title} aria-label={group.title}>
          <h2>{group.title}</h2>
          {group.list.map((entry) => (
            <a key={entry.label} href={entry.href} aria-current={entry.on ? "page" : undefined}>
              {entry.label}
              {entry.label === "Compare" && picked.length > 0 ? <small>{picked.length}</small> : null}
            </a>
          ))}
        </nav>
      ))}
      <div className="foot">
        {connected ? null : (
          <p role="status" className="state failed">
            no server
          </p>
        )}
        <label>
          <span className="hidden">Colours</span>
          <select value={choice} onChange={(event) => choose(event.target.value as Choice)} aria-label="Colours">
            <option value="auto">System colours</option>
            <option value="light">Light</option>
            <option value="dark">Dark</option>
          </select>
        </label>
        <span className="version">
          {about.data ? `Version ${about.data.version}, ` : ""}
          <a href="third-party.txt">licences</a>
        </span>
      </div>
    </div>
  );
}

function CurrentPage({ route }: { route: Route }) {
  const [first = "", second, third] = route.parts;
  if (first === "") return <Workspace route={route} />;
  if (first === "configure") return <Configure route={route} />;
  if (first === "run") return <RunPage id={second} />;
  if (first === "compare") return <Compare route={route} />;
  if (first === "sweeps") return <Sweeps id={second} />;
  if (first === "studies") return <Studies name={second} />;
  if (first === "trials") {
    const page = third ?? route.query.get("page") ?? "statistics";
    if (page === "fabric") return <FabricPage id={second} route={route} />;
    if (page === "notebook") return <Notebook id={second} />;
    return <Statistics id={second} route={route} />;
  }
  return (
    <Empty title="There is no such page">
      <a href={href([])}>Workspace</a>
    </Empty>
  );
}

export function App() {
  const route = useRoute();
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
        <Side route={route} />
        <main id="main" ref={main} tabIndex={-1}>
          <Boundary what="page" of={[page, route.query.toString()]}>
            <Suspense fallback={<p className="empty">Loading…</p>}>
              <CurrentPage route={route} />
            </Suspense>
          </Boundary>
        </main>
      </div>
    </>
  );
}
