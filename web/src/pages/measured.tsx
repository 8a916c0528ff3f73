/** Trials beside files of measurements: logs of nccl-tests, JSON of perftest, tables of one's own. */
import { useState } from "react";
import * as api from "../api/client";
import { problemOf, type Problem } from "../api/problem";
import type { MeasuredBody } from "../api/types";
import { isReport } from "../embedded";
import { useLoad } from "../ui/load";
import { Page, Pending, Problems } from "../ui/parts";
import { PictureGroupView } from "../ui/picture";

/** What a report has of its trials beside measurements. */
export function MeasuredPage() {
  const loaded = useLoad("measured", () => api.measured({ ids: [], files: [] }));
  return (
    <Page title="Simulated beside measured" lead="Deviations are those of the simulation from the measurement, in percent of the measurement; times are means over the measured iterations.">
      {loaded.data ? <Beside data={loaded.data} /> : <Pending loading={loaded.loading} problem={loaded.problem} />}
    </Page>
  );
}

function Beside({ data }: { data: MeasuredBody }) {
  return (
    <>
      {data.doubts.map((doubt) => (
        <p className="note warn" key={doubt}>
          {doubt}
        </p>
      ))}
      <PictureGroupView group={data.group} name="measured" />
    </>
  );
}

/** Puts files that a reader chooses beside trials of the workspace. */
export function MeasuredSection({ ids }: { ids: string[] }) {
  const [data, setData] = useState<MeasuredBody>();
  const [problem, setProblem] = useState<Problem>();
  if (isReport) return null;
  const read = async (files: FileList | null) => {
    try {
      const texts = await Promise.all([...(files ?? [])].map(async (file) => ({ name: file.name, text: await file.text() })));
      setData(await api.measured({ ids: ids.map(Number), files: texts }));
      setProblem(undefined);
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  return (
    <section>
      <h2>Simulated beside measured</h2>
      <div className="controls">
        <label className="button file">
          Choose logs of nccl-tests, JSON of perftest, or tables
          <input type="file" multiple onChange={(event) => void read(event.target.files)} />
        </label>
      </div>
      {problem ? <Problems problems={[problem]} /> : null}
      {data ? <Beside data={data} /> : null}
    </section>
  );
}
