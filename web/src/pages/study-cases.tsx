/** Published values beside measured ones, with bands and verdicts. */
import type { StudyCase } from "../api/types";
import { plain } from "../draw/numbers";
import { csv, download, fileName } from "../draw/save";
import { count } from "../ui/format";
import { caseName, metricName } from "./study-words";

const LOOKS: Record<string, string> = { match: "done", miss: "failed" };
const COLUMNS = ["case", "variant", "metric", "published", "measured", "least", "greatest", "deviation_percent", "band_low", "band_high", "gate", "verdict"];
/** More rows of a table are in the file alone. */
const MOST = 2000;

const show = (value: number | null | undefined) => (typeof value === "number" ? plain(value, 5) : "—");

/** The rows that are judged, and behind a click those for information. */
export function Cases({ title, name, cases }: { title: string; name: string; cases: StudyCase[] }) {
  const judged = cases.filter((one) => one.gate !== "info");
  const others = cases.filter((one) => one.gate === "info");
  const rows = cases.map((one) => [caseName(one), one.variant, one.metric, one.published, one.measured, one.least, one.greatest, one.deviation_percent, one.band_low, one.band_high, one.gate, one.verdict]);
  return (
    <section>
      <h2>{title}</h2>
      {judged.length > 0 ? <Rows label="Cases of the study" cases={judged} /> : <p className="empty">No row is judged.</p>}
      {others.length > 0 ? (
        <details open={judged.length === 0}>
          <summary>{count(others.length, "row")} for information</summary>
          <Rows label="Rows for information" cases={others} />
        </details>
      ) : null}
      <div className="tools">
        <button type="button" onClick={() => download(`${fileName(name)}.csv`, csv(COLUMNS, rows))}>
          CSV
        </button>
      </div>
    </section>
  );
}

function Rows({ label, cases }: { label: string; cases: StudyCase[] }) {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={label} style={{ maxHeight: 620 }}>
      <table>
        <thead>
          <tr>
            <th>Case</th>
            <th>Variant</th>
            <th>Metric</th>
            <th className="n">Published</th>
            <th className="n">Measured</th>
            <th className="n">Minimum – maximum</th>
            <th>Statistic</th>
            <th className="n">Deviation</th>
            <th className="n">Band</th>
            <th>Gate</th>
            <th>Verdict</th>
          </tr>
        </thead>
        <tbody>
          {cases.slice(0, MOST).map((one, at) => (
            <tr key={at}>
              <td>{caseName(one)}</td>
              <td>{one.variant}</td>
              <td>{metricName(one.metric)}</td>
              <td className="n">{one.published_text ?? show(one.published)}</td>
              <td className="n">{typeof one.measured === "number" ? show(one.measured) : (one.measured_text ?? "—")}</td>
              <td className="n">{typeof one.least === "number" ? `${show(one.least)} – ${show(one.greatest)}` : ""}</td>
              <td>{one.statistic?.split(": ")[0] ?? "one trial"}</td>
              <td className="n">{typeof one.deviation_percent === "number" ? `${plain(one.deviation_percent, 3)} %` : "—"}</td>
              <td className="n">{one.band_text ?? "—"}</td>
              <td>{one.origin === "own" ? `${one.gate}, own band` : one.gate}</td>
              <td>
                <span className={`state ${LOOKS[one.verdict] ?? ""}`}>{one.verdict}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
