/** Published studies: what was published, what Tenter measures, and the band that was stated before. */
import { type ReactNode } from "react";
import * as api from "../api/client";
import type { Study, StudyRow } from "../api/types";
import { barChart } from "../draw/bars";
import { plain } from "../draw/numbers";
import { isReport } from "../embedded";
import { count } from "../ui/format";
import { useLoad } from "../ui/load";
import { Page, Pending, Search, Tile } from "../ui/parts";
import { PicturePlots } from "../ui/picture";
import { Plot } from "../ui/plot";
import { href, useShown } from "../ui/router";
import { text } from "../ui/view-kinds";
import { Cases } from "./study-cases";
import { type Chart, chartsOf } from "./study-charts";
import { caseName, outcome } from "./study-words";

/** A study; `about` shows its page in Markdown. */
export function Studies({ name, about }: { name: string | undefined; about?: (text: string) => ReactNode }) {
  return name ? <OneStudy name={name} about={about} /> : <AllStudies />;
}

function AllStudies() {
  const studies = useLoad("studies", api.studies);
  const [search, setSearch] = useShown("search", text);
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = (studies.data ?? []).filter((study) => {
    const said = `${study.name} ${study.title} ${study.source}`.toLowerCase();
    return words.every((word) => said.includes(word));
  });
  return (
    <Page title="Studies" lead={isReport ? "Published and measured values of each study." : "Published results that Tenter repeats, with the recorded answers of this version."}>
      <div className="controls">
        <Search label="Search studies" value={search} onChange={setSearch} />
      </div>
      {studies.data ? null : <Pending loading={studies.loading} problem={studies.problem} />}
      <div className="scroll">
        <table>
          <thead>
            <tr>
              <th>Study</th>
              <th>Title</th>
              <th>Source</th>
              <th className="n">Required rows</th>
              <th className="n">Open rows</th>
              <th className="n">All that are judged</th>
              <th>Outcome</th>
            </tr>
          </thead>
          <tbody>
            {found.map((study) => (
              <tr key={study.name}>
                <td>
                  <a href={href(["studies", study.name])}>{study.name}</a>
                </td>
                <td className="words">{study.title}</td>
                <td>{study.source}</td>
                <td className="n">{tally(study.required_matches, study.required)}</td>
                <td className="n">{tally(study.open_matches, study.open)}</td>
                <td className="n">{tally(study.matches, study.judged)}</td>
                <td>
                  <Outcome study={study} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Page>
  );
}

const tally = (matches: number, rows: number): string => (rows > 0 ? `${matches} of ${rows}` : "—");

function Outcome({ study }: { study: StudyRow }) {
  const { text, state } = outcome(study);
  return <span className={`state ${state}`}>{text}</span>;
}

/** A title as a sentence: with a capital letter and a full stop. */
const sentence = (title: string): string => `${title.charAt(0).toUpperCase()}${title.slice(1).replace(/\.$/, "")}.`;

function OneStudy({ name, about }: { name: string; about: ((text: string) => ReactNode) | undefined }) {
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
      of={[data.name, "Study"]}
      lead={
        <>
          {sentence(data.title)} {sentence(data.source)} <Outcome study={data} />
        </>
      }
      actions={
        isReport ? null : (
          <a className="button" href={href(["configure"], { preset: data.name })}>
            Configure its scenario
          </a>
        )
      }
    >
      {data.notes.map((note) => (
        <p className={note.startsWith("warning") ? "note warn" : "note"} key={note}>
          {note}
        </p>
      ))}
      <Tiles study={data} />
      <p className="soft">
        {data.quick ? "Quick form" : "Full form"}
        {data.digest ? (
          <>
            , digest <code>{data.digest}</code>
          </>
        ) : null}
        .
      </p>
      {chartsOf(data).map((chart) => (
        <ChartPlot key={chart.title} chart={chart} />
      ))}
      {data.recorded.length > 0 ? (
        <section>
          <h2>What the trials recorded</h2>
          <PicturePlots pictures={data.recorded} />
        </section>
      ) : null}
      <Cases title="Published and measured" name={data.name} cases={data.cases} />
      <Pauses study={data} />
      <details>
        <summary>What was run</summary>
        <div className="scroll">
          <table>
            <thead>
              <tr>
                <th>Variant</th>
                <th>Meaning</th>
                <th className="n">Trials</th>
              </tr>
            </thead>
            <tbody>
              {data.variants.map((variant) => (
                <tr key={variant.name}>
                  <td>{variant.name}</td>
                  <td className="words">{variant.about}</td>
                  <td className="n">{variant.trials}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
      {about && data.page ? (
        <details>
          <summary>About this study</summary>
          {about(data.page)}
        </details>
      ) : null}
    </Page>
  );
}

function Tiles({ study }: { study: Study }) {
  const trials = study.variants.reduce((sum, variant) => sum + variant.trials, 0);
  const misses = study.cases.filter((one) => one.verdict === "miss").map(caseName);
  const inside = study.not_judged > 0 ? `${study.not_judged} rows are not judged by the quick form` : "every judged row is inside its band";
  return (
    <dl className="tiles">
      <Tile label="Required rows that match" value={tally(study.required_matches, study.required)} note="a miss fails the study" />
      <Tile label="Open rows that match" value={tally(study.open_matches, study.open)} note="a miss is only shown" />
      <Tile label="Trials" value={plain(trials)} note={count(study.variants.length, "variant")} />
      <Tile label="Misses" value={plain(misses.length)} note={misses.length > 0 ? misses.join("; ") : inside} />
    </dl>
  );
}

/** More bars are in the table alone. */
const MOST_BARS = 120;

function ChartPlot({ chart }: { chart: Chart }) {
  const { title, axis, bars } = chart;
  const number = (value: number | null | undefined) => value ?? null;
  return (
    <Plot
      title={title}
      note={`bar: measured; whiskers: least to greatest over the seeds; diamond: published; dashed: the band stated before the run${bars.length > MOST_BARS ? `; the first ${MOST_BARS} of ${bars.length} bars` : ""}`}
      inputs={[chart]}
      draw={(width, theme) => barChart({ title, bars: bars.slice(0, MOST_BARS), value: { label: axis } }, Math.min(width, 980), theme)}
      numbers={{
        columns: ["case", "bar", axis, "least", "greatest", "published", "band_low", "band_high"],
        rows: bars.map((bar) => [bar.group ?? "", bar.name, bar.value, number(bar.low), number(bar.high), number(bar.published), number(bar.band?.[0]), number(bar.band?.[1])]),
      }}
    />
  );
}

/** Who was paused, by variant. */
function Pauses({ study }: { study: Study }) {
  if (study.pauses.length === 0) return null;
  return (
    <details>
      <summary>Pauses of NICs, by variant</summary>
      <div className="scroll">
        <table>
          <thead>
            <tr>
              <th>Variant</th>
              <th className="n">Least XOFF frames to a NIC</th>
              <th className="n">Mean</th>
              <th className="n">Most</th>
              <th className="n">Evenness (Jain)</th>
              <th className="n">Held in one switch, MB</th>
              <th>Switch</th>
            </tr>
          </thead>
          <tbody>
            {study.pauses.map((one) => (
              <tr key={one.variant}>
                <td>{one.variant}</td>
                <td className="n">{plain(one.xoff_min_frames)}</td>
                <td className="n">{plain(one.xoff_mean_frames)}</td>
                <td className="n">{plain(one.xoff_max_frames)}</td>
                <td className="n">{one.xoff_evenness.toFixed(3)}</td>
                <td className="n">{one.held_text}</td>
                <td>{one.switch}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
