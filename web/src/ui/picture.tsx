/** A picture that the server gives as data. */
import { useMemo, useState } from "react";
import type { PictureBody, PictureGroup } from "../api/types";
import { axisOf, draw, numbersOf, type Spec } from "../pictures/spec";
import type { Series } from "../draw/lines";
import { stroke } from "../draw/theme";
import { Answer } from "./answers";
import { Select } from "./parts";
import { Plot } from "./plot";
import { useShown } from "./router";
import { useTheme } from "./theme";
import { word } from "./view-kinds";

/** A picture whose data the server or the page has made. */
type Drawable = Omit<PictureBody, "plot"> & { plot: PictureBody["plot"] | Spec };

const specOf = (picture: Drawable): Spec => picture.plot as unknown as Spec;

interface Props {
  picture: Drawable;
  metric?: string;
  /** Pins the picture to the note. */
  onPin?: (() => void) | undefined;
}

export function PicturePlot({ picture, metric = "", onPin }: Props) {
  const spec = specOf(picture);
  const numbers = useMemo(() => numbersOf(spec), [spec]);
  const [off, setOff] = useState<ReadonlySet<number>>(new Set());
  const names = spec.kind === "lines" && spec.series.length > 1 ? spec.series : [];
  const choice = { off, metric, legend: names.length === 0 };
  const toggle = (at: number) => setOff(new Set(off.has(at) ? [...off].filter((one) => one !== at) : [...off, at]));
  return (
    <Plot
      title={picture.title}
      note={picture.lead}
      axis={axisOf(spec)}
      draw={(width, theme, span) => draw(spec, width, theme, { ...choice, span })}
      file={(width, theme, span) => draw(spec, width, theme, { ...choice, span, legend: true })}
      below={names.length > 0 ? <Legend series={names} off={off} onToggle={toggle} /> : null}
      inputs={[spec, metric, off]}
      numbers={numbers}
      onPin={onPin}
    />
  );
}

/** The names of lines, which switch them off and on. */
function Legend({ series, off, onToggle }: { series: Series[]; off: ReadonlySet<number>; onToggle: (at: number) => void }) {
  const theme = useTheme();
  return (
    <p className="legend">
      {series.map((one, at) => {
        const { colour, dash } = stroke(theme, one.colour ?? at);
        return (
          <button type="button" key={at} aria-pressed={!off.has(at)} onClick={() => onToggle(at)}>
            <svg viewBox="0 0 22 8" aria-hidden="true">
              <path d="M0 4H22" stroke={colour} strokeWidth="2.4" strokeDasharray={dash} />
            </svg>
            {one.name}
          </button>
        );
      })}
    </p>
  );
}

/** Pictures below each other; where cells have several numbers, one choice for all of them. */
export function PicturePlots({ pictures }: { pictures: PictureBody[] }) {
  const cells = pictures.map(specOf).find((spec) => spec.kind === "cells");
  const kind = useMemo(() => word(cells?.metrics.map((one) => one.key) ?? [""]), [cells]);
  const [metric, setMetric] = useShown("cells", kind);
  return (
    <>
      {cells ? (
        <div className="controls">
          <Select label="Colour" value={metric} options={cells.metrics.map(({ key, name }) => ({ value: key, label: name }))} onChange={setMetric} />
        </div>
      ) : null}
      {pictures.map((picture, at) => (
        <PicturePlot key={at} picture={picture} metric={metric} />
      ))}
    </>
  );
}

/** The pictures of a group, and the answers below them. */
export function PictureGroupView({ group, name }: { group: PictureGroup; name: string }) {
  return (
    <>
      <PicturePlots pictures={group.pictures} />
      {group.sections.map((section, at) => (
        <Answer key={at} section={section} trial={name} />
      ))}
    </>
  );
}
