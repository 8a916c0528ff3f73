/** A picture that the server has from a report: its data is drawn as there. */
import { useMemo, useState } from "react";
import type { PictureBody } from "../api/types";
import { draw } from "../report/draw";
import { numbersOf } from "../report/numbers";
import type { Spec } from "../report/spec";
import { Select } from "./parts";
import { Plot } from "./plot";

const specOf = (picture: PictureBody): Spec => picture.plot as unknown as Spec;

export function ReportPlot({ picture, metric = "" }: { picture: PictureBody; metric?: string }) {
  const spec = specOf(picture);
  const numbers = useMemo(() => numbersOf(spec), [spec]);
  const choice = { off: new Set<number>(), metric, legend: true };
  return <Plot title={picture.title} note={picture.lead} draw={(width, theme) => draw(spec, width, theme, choice)} inputs={[spec, metric]} numbers={numbers} />;
}

/** Pictures below each other; where cells have several numbers, one choice for all of them. */
export function ReportPlots({ pictures }: { pictures: PictureBody[] }) {
  const cells = pictures.map(specOf).find((spec) => spec.kind === "cells");
  const [metric, setMetric] = useState(cells?.metrics[0]?.key ?? "");
  return (
    <>
      {cells ? (
        <div className="controls">
          <Select label="Colour" value={metric} options={cells.metrics.map(({ key, name }) => ({ value: key, label: name }))} onChange={setMetric} />
        </div>
      ) : null}
      {pictures.map((picture, at) => (
        <ReportPlot key={at} picture={picture} metric={metric} />
      ))}
    </>
  );
}
