import assert from "node:assert/strict";
import { it } from "node:test";
import { forPeople } from "../api/problem";
import { cellText, example, heading } from "./table-words";

const column = (name: string, kind: "float" | "text" = "float", unit = "") => ({ name, kind, unit, meaning: "", optional: false });

it("gives an example with columns that the table has", () => {
  assert.equal(example([column("job_name", "text"), column("src_rank"), column("fct_ns")]), "fct_ns > 100us and src_rank = 3");
  assert.equal(example([column("node"), column("node_name", "text"), column("utilisation")]), "utilisation > 0.9 and node_name ~ leaf");
  assert.equal(example([column("node"), column("node_name", "text"), column("queue_high_water_bytes")]), "queue_high_water_bytes > 1MiB and node_name ~ leaf");
  assert.equal(example([column("port"), column("b")]), "b > 1000");
  assert.equal(example([column("a", "text")]), "a ~ text");
});

it("says what to do to people, not to programs", () => {
  const refused = forPeople({ message: "the table has no column `fct`", help: "its address without `where` lists them" });
  assert.equal(refused.help, undefined);
  assert.equal(forPeople({ message: "there is no such trial", help: "/api/v1/trials lists them" }).help, undefined);
  assert.equal(forPeople({ message: "a", help: "write `fabric: {kind: rail}`" }).help, "write `fabric: {kind: rail}`");
});

it("reads columns and cells", () => {
  assert.equal(heading(column("fct_p99_ns", "float", "ns")), "FCT P99");
  assert.equal(heading(column("tx_bytes", "float", "bytes")), "Tx");
  assert.equal(heading(column("tx_bytes")), "Tx bytes");
  assert.deepEqual([null, 1200, 0.123456789, true, "leaf0"].map(cellText), ["—", "1,200", "0.123457", "yes", "leaf0"]);
});
