/** Published studies: what was published, what Tenter measures, and the band that was stated before. */
import * as api from "../api/client";
import type { Study } from "../api/types";
import { barChart } from "../draw/bars";
import { plain } from "../draw/numbers";
import { csv, download, fileName } from "../ui/format";
import { useLoad } from "../ui/load";
import { Page, Pending } from "../ui/parts";
import { Plot } from "../ui/plot";
import { href } from "../ui/router";
import { Markdown } from "./notebook";

export function Studies({ name }: { name: string | undefined }) {
  return name ? <OneStudy name={name} /> : <AllStudies />;
}

function AllStudies() {
  const studies = useLoad("studies", api.studies);
  return (
    <Page title="Studies" lead="Published results that Tenter repeats, with the recorded answers of this version.">
      {studies.data ? null : <Pending loading={studies.loading} problem={studies.problem} />}
      <div className="scroll">
        <table>
          <thead>
            <tr>
              <th>Study</th>
              <th>What</th>
              <th>Source</th>
            </tr>
          </thead>
          <tbody>
            {(studies.data ?? []).map((study) => (
              <tr key={study.name}>
                <td>
                  <a href={href(["studies", study.name])}>{study.name}</a>
                </td>
                <td>{study.title}</td>
                <td>{study.source}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Page>
  );
}

function OneStudy({ name }: { name: string }) {
  const study = useLoad(`study:${name}`, () => api.study(name));
  if (!study.data) {
    return (
      <Page title={name}>
        <Pending loading={study.loading} problem={study.problem} />
      </Page>
    );
  }
  const data = study.data;
  return (
    <Page
      title={data.name}
      lead={`${data.title}. ${data.source}.`}
      actions={
        <a className="button" href={href(["configure"], { preset: data.name })}>
          Configure its scenario
        </a>
      }
    >
      {metrics(data).map((metric) => (
        <Metric key={metric} study={data} metric={metric} />
      ))}
      <Cases study={data} />
      <details>
        <summary>About this study</summary>
        <Markdown text={data.page} />
      </details>
    </Page>
  );
}

const metrics = (study: Study): string[] => [...new Set(study.cases.map((one) => one.metric))].slice(0, 4);

function Metric({ study, metric }: { study: Study; metric: string }) {
  const cases = study.cases.filter((one) => one.metric === metric && (one.measured !== null || one.published !== null)).slice(0, 40);
  if (cases.length === 0) return null;
  const unit = cases[0]?.unit ?? "";
  const variants = [...new Set(cases.map((one) => one.variant ?? ""))];
  const bars = cases.map((one) => ({
    name: variants.length > 1 ? `${one.case}, ${one.variant}` : one.case,
    value: one.measured ?? Number.NaN,
    text: one.measured === null ? "not recorded" : plain(one.measured, 4),
    colour: variants.indexOf(one.variant ?? ""),
    ...(one.published === null ? {} : { published: one.published }),
    ...(typeof one.band_low === "number" && typeof one.band_high === "number" ? { band: [one.band_low, one.band_high] as [number, number] } : {}),
  }));
  const title = `${metric}: measured and published`;
  return (
    <Plot
      title={title}
      note="bar: measured; diamond: published; grey: the band stated before the run"
      inputs={[study, metric]}
      draw={(width, theme) => barChart({ title, bars, value: { label: unit && !metric.includes(unit) ? `${metric} (${unit})` : metric } }, Math.min(width, 980), theme)}
      numbers={{
        columns: ["case", "variant", "measured", "published", "band_low", "band_high", "verdict"],
        rows: cases.map((one) => [one.case, one.variant ?? "", one.measured, one.published, one.band_low ?? null, one.band_high ?? null, one.verdict]),
      }}
    />
  );
}

function Cases({ study }: { study: Study }) {
  const columns = ["case", "variant", "metric", "published", "measured", "band_low", "band_high", "verdict"];
  const show = (value: number | null | undefined) => (typeof value === "number" ? plain(value, 5) : "—");
  return (
    <section>
      <h2>Cases</h2>
      <div className="tools">
        <button
          type="button"
          onClick={() =>
            download(
              `${fileName(study.name)}.csv`,
              csv(columns, study.cases.map((one) => [one.case, one.variant ?? "", one.metric, one.published, one.measured, one.band_low, one.band_high, one.verdict])),
            )
          }
        >
          CSV
        </button>
      </div>
      <div className="scroll" tabIndex={0} role="region" aria-label="Cases of the study">
        <table>
          <thead>
            <tr>
              <th>Case</th>
              <th>Variant</th>
              <th>Metric</th>
              <th className="n">Published</th>
              <th className="n">Measured</th>
              <th className="n">Band</th>
              <th>Verdict</th>
            </tr>
          </thead>
          <tbody>
            {study.cases.map((one, at) => (
              <tr key={at}>
                <td>{one.case}</td>
                <td>{one.variant}</td>
                <td>{one.metric}</td>
                <td className="n">{show(one.published)}</td>
                <td className="n">{show(one.measured)}</td>
                <td className="n">{typeof one.band_low === "number" ? `${show(one.band_low)} to ${show(one.band_high)}` : "—"}</td>
                <td>
                  <span className={`state ${one.verdict === "match" ? "finished" : one.verdict === "miss" ? "failed" : ""}`}>{one.verdict}</span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
