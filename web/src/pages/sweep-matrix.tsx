/** The heat map of a sweep over two of its axes. */
import { useState } from "react";
import { matrix } from "../draw/matrix";
import { numbersOf } from "../pictures/spec";
import { Select } from "../ui/parts";
import { Plot } from "../ui/plot";
import { type Cut, labelOf, matrixOf, type Reading, type Rows, sides } from "./sweep-rows";

interface Props {
  sweep: Rows;
  reading: Reading;
  /** The axes from top to bottom and from left to right at first. */
  sides?: readonly [number, number];
}

/** Nothing for a sweep without two axes that are varied. */
export function SweepMatrix({ sweep, reading, sides: first }: Props) {
  const found = sides(sweep);
  const [variant, setVariant] = useState(sweep.variants[0] ?? "");
  const [axes, setAxes] = useState(first ?? ([found[0] ?? 0, found[1] ?? 0] as const));
  const [at, setAt] = useState(sweep.axes.map((axis) => axis.values[0] ?? ""));
  if (found.length < 2) return null;
  const [down, across] = axes;
  // The axis of the other side changes its place with one that is chosen twice.
  const setDown = (axis: number) => setAxes([axis, axis === across ? down : across]);
  const setAcross = (axis: number) => setAxes([axis === down ? across : down, axis]);
  const cut: Cut = { variant, down, across, at };
  const made = matrixOf(sweep, reading, cut);
  const choices = found.map((axis) => ({ value: String(axis), label: nameOf(sweep, axis) }));
  return (
    <>
      <div className="controls">
        {sweep.variants.length > 1 ? (
          <Select label="Variant" value={variant} options={sweep.variants.map((value) => ({ value, label: value }))} onChange={setVariant} />
        ) : null}
        {sweep.axes.length > 2 ? (
          <>
            <Select label="Rows" value={String(down)} options={choices} onChange={(value) => setDown(Number(value))} />
            <Select label="Columns" value={String(across)} options={choices} onChange={(value) => setAcross(Number(value))} />
          </>
        ) : null}
        {sweep.axes.map((axis, place) =>
          place === down || place === across || axis.values.length < 2 ? null : (
            <Select
              key={axis.path}
              label={labelOf(axis)}
              value={at[place] ?? ""}
              options={axis.values.map((value) => ({ value, label: value }))}
              onChange={(value) => setAt(at.map((one, other) => (other === place ? value : one)))}
            />
          ),
        )}
      </div>
      {made ? (
        <Plot
          title={made.title}
          note={`${reading.statistic} of the seeds; all variants have the same colours`}
          inputs={[sweep, reading, variant, axes, at]}
          draw={(width, theme) => matrix(made, width, theme)}
          numbers={numbersOf(made)}
        />
      ) : (
        <p className="empty">No trial has a value here.</p>
      )}
    </>
  );
}

const nameOf = (sweep: Rows, axis: number): string => {
  const found = sweep.axes[axis];
  return found ? labelOf(found) : "";
};
