/** The page of a server: its navigation, and the page that the address names. */
import * as api from "./api/client";
import { useConnected } from "./api/events";
import { Compare } from "./pages/compare";
import { FabricPage } from "./pages/fabric";
import { Markdown, Notebook } from "./pages/notebook";
import { RunPage } from "./pages/run";
import { Statistics } from "./pages/statistics";
import { Studies } from "./pages/studies";
import { Sweeps } from "./pages/sweeps";
import { Workspace } from "./pages/workspace";
import { fetched } from "./ui/fetched";
import { useLoad } from "./ui/load";
import { Empty } from "./ui/parts";
import { COMPARED, lastTrial, usePicked } from "./ui/picked";
import { href, type Route, useRoute } from "./ui/router";
import { type Links, Shell } from "./ui/shell";

// The editor is as large as all else together, and needed on these pages alone.
const Configure = fetched(() => import("./pages/configure").then((page) => page.Configure));
const NewSweep = fetched(() => import("./pages/new-sweep").then((page) => page.NewSweep));

function entries(route: Route, compared: string[]): Links[] {
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
        { label: "Compare", href: href(["compare"], { ids: compared.length <= COMPARED ? compared.join(",") : "" }), on: first === "compare", count: compared.length },
        { label: "Sweeps", href: href(["sweeps"]), on: first === "sweeps" },
        { label: "Studies", href: href(["studies"]), on: first === "studies" },
      ],
    },
  ];
}

function CurrentPage({ route }: { route: Route }) {
  const [first = "", second, third] = route.parts;
  if (first === "") return <Workspace />;
  if (first === "configure") return <Configure route={route} />;
  if (first === "run") return <RunPage id={second} />;
  if (first === "compare") return <Compare route={route} />;
  if (first === "sweeps") return second === "new" ? <NewSweep /> : <Sweeps route={route} />;
  if (first === "studies") return <Studies name={second} about={(text) => <Markdown text={text} />} />;
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
  const about = useLoad("about", api.about);
  const connected = useConnected();
  const picked = usePicked();
  const brand = (
    <>
      Tenter
      <small title={about.data?.folder}>{about.data ? about.data.folder.split("/").slice(-2).join("/") : ""}</small>
    </>
  );
  const foot = (
    <>
      {connected ? null : (
        <p role="status" className="state failed">
          no server
        </p>
      )}
      <span className="version">
        {about.data ? `Version ${about.data.version}, ` : ""}
        <a href="third-party.txt">licences</a>
      </span>
    </>
  );
  return (
    <Shell route={route} brand={brand} links={entries(route, picked)} foot={foot}>
      <CurrentPage route={route} />
    </Shell>
  );
}
