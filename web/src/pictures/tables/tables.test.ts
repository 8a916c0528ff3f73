import assert from "node:assert/strict";
import { it } from "node:test";
import { canonical } from "../../embedded";
import { REPORT } from "../../views";
import * as PICTURES from ".";

it("has the rows of all pictures of tables in reports", () => {
  for (const { table, query } of Object.values(PICTURES)) {
    const asked = Object.entries(query).map(([name, value]) => [name, String(value)]);
    assert.ok(REPORT.trial.includes(canonical(`/api/v1/trials/{id}/tables/${table}?${new URLSearchParams(asked)}`)), table);
  }
});
