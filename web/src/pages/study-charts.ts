/** The charts of a study: a group of bars for each case, a bar for each fabric or variant. */
import type { Study, StudyCase } from "../api/types";
import type { Bar } from "../draw/bars";
import { plain } from "../draw/numbers";
import { metricName, seriesName } from "./study-words";

export interface Chart {
  title: string;
  axis: string;
  bars: Bar[];
}

type Drawn = Pick<StudyCase, "case" | "bar" | "metric" | "variant" | "published" | "published_text" | "measured" | "least" | "greatest" | "seeds" | "band_low" | "band_high" | "band_text" | "gate" | "origin" | "verdict">;

/** What is said of a bar under the pointer. */
function say(one: Drawn): string {
  const seeds = typeof one.least === "number" && typeof one.greatest === "number" ? `, ${plain(one.least)} to ${plain(one.greatest)} over ${one.seeds} seeds` : "";
  const published = one.published_text ?? (typeof one.published === "number" ? plain(one.published) : "");
  return [
    `${one.case}, ${seriesName(one)}`,
    metricName(one.metric),
    `measured ${typeof one.measured === "number" ? plain(one.measured) : "nothing"}${seeds}`,
    published ? `${one.origin === "own" ? "published or expected" : "published"} ${published}` : "",
    one.band_text ? `band ${one.band_text}: ${one.verdict}` : "",
  ]
    .filter(Boolean)
    .join("\n");
}

/** Values in per cent of the published one; nothing without a published number. */
function inPercent(one: Drawn): Drawn | undefined {
  const { published } = one;
  if (typeof published !== "number" || published <= 0) return undefined;
  const of = (value: number | null | undefined) => (typeof value === "number" ? (100 * value) / published : null);
  return { ...one, measured: of(one.measured), published: 100, least: of(one.least), greatest: of(one.greatest), band_low: of(one.band_low), band_high: of(one.band_high) };
}

/** The charts that a study names; without any its judged rows over their published values. */
export function chartsOf(study: Pick<Study, "cases" | "charts">): Chart[] {
  const isJudged = new Set(study.cases.filter((one) => one.gate !== "info").map((one) => `${one.case}\n${one.metric}`));
  const shown: { title: string; axis: string; cases: { one: Drawn; said: Drawn }[] }[] =
    study.charts.length > 0
      ? study.charts.map(({ title, axis, metrics, bars }) => ({
          title,
          axis,
          cases: study.cases.filter((one) => metrics.includes(one.metric) && (bars.length === 0 || bars.includes(seriesName(one)))).map((one) => ({ one, said: one })),
        }))
      : [
          {
            title: "Measured over published",
            axis: "measured, % of published",
            cases: study.cases
              .filter((one) => isJudged.has(`${one.case}\n${one.metric}`))
              .flatMap((said) => {
                const one = inPercent(said);
                return one ? [{ one, said }] : [];
              }),
          },
        ];
  const drawn = shown.filter(({ cases }) => cases.some(({ one }) => typeof one.measured === "number"));
  // A bar has the same colour in all charts.
  const series = [...new Set(drawn.flatMap(({ cases }) => cases.map(({ one }) => seriesName(one))))];
  return drawn.map(({ title, axis, cases }) => {
    const groups = [...new Set(cases.map(({ one }) => one.case))];
    const ordered = groups.flatMap((group) => cases.filter(({ one }) => one.case === group));
    return { title, axis, bars: ordered.map(({ one, said }) => barOf(one, say(said), series)) };
  });
}

function barOf(one: Drawn, said: string, series: string[]): Bar {
  const name = seriesName(one);
  return {
    group: one.case,
    name,
    value: one.measured ?? null,
    colour: Math.max(series.indexOf(name), 0),
    text: typeof one.measured === "number" ? plain(one.measured) : "not measured",
    say: said,
    ...(typeof one.least === "number" && typeof one.greatest === "number" ? { low: one.least, high: one.greatest } : {}),
    ...(typeof one.published === "number" ? { published: one.published } : {}),
    ...(typeof one.band_low === "number" && typeof one.band_high === "number" ? { band: [one.band_low, one.band_high] as [number, number] } : {}),
  };
}
