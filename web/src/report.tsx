/** A report: the pages of the workspace, with the answers to what they ask in the same file. */
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import * as api from "./api/client";
import { embedded } from "./embedded";
import { Compare } from "./pages/compare";
import { MeasuredPage } from "./pages/measured";
import { Statistics } from "./pages/statistics";
import { Studies } from "./pages/studies";
import { Sweeps } from "./pages/sweeps";
import { Boundary } from "./ui/boundary";
import { useLoad } from "./ui/load";
import { Empty } from "./ui/parts";
import { href, type Route, useRoute } from "./ui/router";
import { type Entry, type Links, Shell } from "./ui/shell";
import { ALL } from "./views";
import "./styles.css";

/** What a report has, each with a page. */
function useLinks(route: Route): Links[] {
  const trials = useLoad("links:trials", () => api.trials(ALL).catch(() => undefined));
  const sweeps = useLoad("links:sweeps", () => api.sweeps().catch(() => undefined));
  const studies = useLoad("links:studies", () => api.studies().catch(() => undefined));
  const beside = useLoad("measured", () => api.measured({ ids: [], files: [] }).catch(() => undefined));
  const [first = "", second] = route.parts;
  const rows = [...(trials.data?.rows ?? [])].sort((a, b) => a.id - b.id);
  const ids = rows.map((row) => String(row.id)).join(",");
  const several: Entry[] = rows.length > 1 ? [{ label: "Compare", href: href(["compare"], { ids }), on: first === "compare" }] : [];
  if (beside.data) several.unshift({ label: "Measured", href: href(["measured"]), on: first === "measured" });
  const swept = sweeps.data ?? [];
  const sweptIds = { ids: swept.map((sweep) => sweep.id).join(",") };
  if (swept.length > 1) several.push({ label: "Sweeps", href: href(["sweeps", "together"], sweptIds), on: second === "together" });
  const studied = studies.data ?? [];
  if (studied.length > 1) several.push({ label: "Verdicts", href: href(["studies"]), on: first === "studies" && !second });
  const all: Links[] = [
    { title: "Side by side", list: several },
    { title: swept.length > 1 ? "Sweeps" : "Sweep", list: swept.map((sweep) => ({ label: sweep.name, href: href(["sweeps", String(sweep.id)]), on: first === "sweeps" && second === String(sweep.id) })) },
    { title: studied.length > 1 ? "Studies" : "Study", list: studied.map((study) => ({ label: study.name, href: href(["studies", study.name]), on: first === "studies" && second === study.name })) },
    { title: rows.length > 1 ? "Trials" : "Trial", list: rows.map((row) => ({ label: row.name, href: href(["trials", String(row.id)]), on: first === "trials" && second === String(row.id) })) },
  ];
  return all.filter((group) => group.list.length > 0);
}

function CurrentPage({ route }: { route: Route }) {
  const [first, second] = route.parts;
  if (first === "compare") return <Compare route={route} />;
  if (first === "measured") return <MeasuredPage />;
  if (first === "sweeps") return <Sweeps route={route} />;
  if (first === "studies") return <Studies name={second} />;
  if (first === "trials") return <Statistics id={second} route={route} />;
  return <Empty title="This report has no such page" />;
}

function Report() {
  const route = useRoute();
  const links = useLinks(route);
  const brand = (
    <>
      Tenter report
      <small>{embedded?.title}</small>
    </>
  );
  return (
    <Shell route={route} brand={brand} links={links} foot={<span className="version">Made by Tenter {embedded?.version}.</span>}>
      <CurrentPage route={route} />
      <footer className="remark">{embedded?.remark}</footer>
    </Shell>
  );
}

const root = document.getElementById("root");
if (root && embedded) {
  if (window.location.hash === "") window.history.replaceState(null, "", embedded.home);
  window.dispatchEvent(new HashChangeEvent("hashchange"));
  createRoot(root).render(
    <StrictMode>
      <Boundary what="report" of={[]}>
        <Report />
      </Boundary>
    </StrictMode>,
  );
}
