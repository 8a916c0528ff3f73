/** Published studies: what was published, what Tenter measures, and the band that was stated before. */
import { useState } from "react";
import * as api from "../api/client";
import type { Study, StudyRow } from "../api/types";
import { barChart } from "../draw/bars";
import { plain } from "../draw/numbers";
import { csv, download, fileName } from "../draw/save";
import { useLoad } from "../ui/load";
import { Page, Pending, Search, Select } from "../ui/parts";
import { Plot } from "../ui/plot";
import { href } from "../ui/router";
import { Markdown } from "./notebook";
import { caseName, metricName, metrics, requiredWords } from "./study-words";

export function Studies({ name }: { name: string | undefined }) {
  return name ? <OneStudy name={name} /> : <AllStudies />;
}

function AllStudies() {
  const studies = useLoad("studies", api.studies);
  const [search, setSearch] = useState("");
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = (studies.data ?? []).filter((study) => {
    const text = `${study.name} ${study.title} ${study.source}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  return (
    <Page title="Studies" lead="Published results that Tenter repeats, with the recorded answers of this version.">
      <div className="controls">
        <Search label="Search studies" value={search} onChange={setSearch} />
      </div>
      {studies.data ? null : <Pending loading={studies.loading} problem={studies.problem} />}
      <div className="scroll">
        <table>
          <thead>
            <tr>
              <th>Study</th>
              <th>What</th>
              <th>Source</th>
              <th className="n">Rows that match</th>
              <th>Required rows</th>
            </tr>
          </thead>
          <tbody>
            {found.map((study) => (
              <tr key={study.name}>
                <td>
                  <a href={href(["studies", study.name])}>{study.name}</a>
                </td>
                <td>{study.title}</td>
                <td>{study.source}</td>
                <td className="n">{study.judged > 0 ? `${study.matches} of ${study.judged}` : "—"}</td>
                <td>
                  <Required study={study} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Page>
  );
}

function Required({ study }: { study: StudyRow }) {
  const { text, state } = requiredWords(study);
  return <span className={`state ${state}`}>{text}</span>;
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
      <dl className="facts">
        {data.variants.map((variant) => (
          <div key={variant.name} style={{ display: "contents" }}>
            <dt>{variant.name}</dt>
            <dd>{variant.about}</dd>
          </div>
        ))}
      </dl>
      {metrics(data.cases).map((metric) => (
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

const MOST_BARS = 40;

function Metric({ study, metric }: { study: Study; metric: string }) {
  const all = study.cases.filter((one) => one.metric === metric && (typeof one.measured === "number" || typeof one.published === "number"));
  const variants = [...new Set(all.map((one) => one.variant))];
  const judged = all.filter((one) => typeof one.band_low === "number").map((one) => one.variant);
  const [variant, setVariant] = useState(judged[0] ?? variants[0] ?? "");
  const cases = all.filter((one) => one.variant === variant);
  if (cases.length === 0) return null;
  const bars = cases.slice(0, MOST_BARS).map((one) => ({
    name: caseName(one),
    value: one.measured ?? Number.NaN,
    text: typeof one.measured === "number" ? plain(one.measured, 4) : "not recorded",
    colour: variants.indexOf(one.variant),
    ...(typeof one.published === "number" ? { published: one.published } : {}),
    ...(typeof one.band_low === "number" && typeof one.band_high === "number" ? { band: [one.band_low, one.band_high] as [number, number] } : {}),
  }));
  const title = `${metricName(metric)}: measured and published`;
  return (
    <section>
      {variants.length > 1 ? (
        <div className="controls">
          <Select label={`Variant, ${metricName(metric)}`} value={variant} options={variants.map((value) => ({ value, label: value }))} onChange={setVariant} />
        </div>
      ) : null}
      <Plot
        title={title}
        note={`bar: measured; diamond: published; grey: the band stated before the run${cases.length > MOST_BARS ? `; the first ${MOST_BARS} of ${cases.length} cases` : ""}`}
        inputs={[study, metric, variant]}
        draw={(width, theme) => barChart({ title, bars, value: { label: metricName(metric) } }, Math.min(width, 980), theme)}
        numbers={{
          columns: ["case", "variant", "measured", "published", "band_low", "band_high", "verdict"],
          rows: cases.map((one) => [caseName(one), one.variant, one.measured ?? null, one.published ?? null, one.band_low ?? null, one.band_high ?? null, one.verdict]),
        }}
      />
    </section>
  );
}

const VERDICTS: Record<string, string> = { match: "done", miss: "failed" };

function Cases({ study }: { study: Study }) {
  const columns = ["case", "variant", "metric", "published", "measured", "deviation_percent", "band_low", "band_high", "gate", "verdict"];
  const show = (value: number | null | undefined) => (typeof value === "number" ? plain(value, 5) : "—");
  const rows = study.cases.map((one) => [caseName(one), one.variant, one.metric, one.published, one.measured, one.deviation_percent, one.band_low, one.band_high, one.gate, one.verdict]);
  return (
    <section>
      <h2>Cases</h2>
      <div className="tools">
        <button type="button" onClick={() => download(`${fileName(study.name)}.csv`, csv(columns, rows))}>
          CSV
        </button>
      </div>
      <div className="scroll" tabIndex={0} role="region" aria-label="Cases of the study" style={{ maxHeight: 620 }}>
        <table>
          <thead>
            <tr>
              <th>Case</th>
              <th>Variant</th>
              <th>Metric</th>
              <th className="n">Published</th>
              <th className="n">Measured</th>
              <th className="n">Deviation</th>
              <th className="n">Band</th>
              <th>Gate</th>
              <th>Verdict</th>
            </tr>
          </thead>
          <tbody>
            {study.cases.slice(0, 2000).map((one, at) => (
              <tr key={at}>
                <td>{caseName(one)}</td>
                <td>{one.variant}</td>
                <td>{metricName(one.metric)}</td>
                <td className="n">{one.published_text ?? show(one.published)}</td>
                <td className="n">{one.measured_text ?? show(one.measured)}</td>
                <td className="n">{typeof one.deviation_percent === "number" ? `${plain(one.deviation_percent, 3)} %` : "—"}</td>
                <td className="n">{typeof one.band_low === "number" ? `${show(one.band_low)} to ${show(one.band_high)}` : "—"}</td>
                <td>{one.gate}</td>
                <td>
                  <span className={`state ${VERDICTS[one.verdict] ?? ""}`}>{one.verdict}</span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
