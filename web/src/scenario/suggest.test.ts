import assert from "node:assert/strict";
import { describe as about, it } from "node:test";
import type { Schema } from "./schema";
import { describe, suggest } from "./suggest";

const kind = (word: string, properties: Record<string, Schema>, required: string[]): Schema => ({
  type: "object",
  description: `A ${word}.`,
  properties: { kind: { const: word }, ...properties },
  required: ["kind", ...required],
});
const schema: Schema = {
  type: "object",
  required: ["fabric"],
  properties: {
    name: { type: "string", description: "Name of the trial. Default: \"\"." },
    fabric: {
      description: "The network.",
      anyOf: [
        kind("leaf-spine", { leaves: { type: "integer", description: "Number of leaves." }, uplink_rate: { type: "string", description: "Rate of the uplinks. Origin: assumed. Default: 400Gbps." } }, ["leaves"]),
        kind("single-switch", { hosts: { type: "integer", description: "NICs." } }, ["hosts"]),
      ],
    },
    flow_control: { enum: ["pfc", "none"], description: "What holds senders back." },
    jobs: { type: "array", items: { type: "object", properties: { name: { type: "string", description: "Name of the job." }, background: { type: "boolean", description: "Whether it is not measured." } }, required: ["name"] } },
  },
};

/** What is suggested where the bar is. */
function at(text: string): string[] | undefined {
  const place = text.indexOf("|");
  return suggest(schema, text.replace("|", ""), place)?.list.map((one) => one.text);
}

about("suggestions for a scenario", () => {
  it("are the keys that are not there yet, required ones first", () => {
    assert.deepEqual(at("name: x\n|"), ["fabric", "flow_control", "jobs"]);
    assert.deepEqual(at("fabric:\n  kind: leaf-spine\n  |\nname: x\n"), ["leaves", "uplink_rate"]);
    assert.deepEqual(at("fabric:\n  kind: leaf-spine\n  upl|\n"), ["leaves", "uplink_rate"]);
    assert.deepEqual(at("fabric: {kind: single-switch, |}\n"), ["hosts"]);
    assert.deepEqual(at("jobs:\n  - name: a\n    |"), ["background"]);
    assert.deepEqual(at("jobs:\n  - |"), ["name", "background"]);
  });

  it("are of all forms while no word chooses one", () => {
    assert.deepEqual(at("fabric:\n  |"), ["kind", "leaves", "hosts", "uplink_rate"]);
  });

  it("are the words of a value", () => {
    assert.deepEqual(at("fabric:\n  kind: |\n"), ["leaf-spine", "single-switch"]);
    assert.deepEqual(at("fabric: {kind: |, leaves: 2}\n"), ["leaf-spine", "single-switch"]);
    assert.deepEqual(at("flow_control: p|\n"), ["pfc", "none"]);
    assert.deepEqual(at("jobs:\n  - name: a\n    background: |"), ["true", "false"]);
    assert.deepEqual(at("fabric:\n  kind: leaf-spine\n  uplink_rate: |\n  leaves: 2\n"), ["400Gbps"]);
  });

  it("are none in comments and where the schema has nothing", () => {
    assert.equal(at("# fab|"), undefined);
    assert.equal(at("unknown:\n  |"), undefined);
  });

  it("begin at the word that is being written", () => {
    assert.equal(suggest(schema, "fabric:\n  kind: leaf-sp", 23)?.from, 16);
  });
});

about("what a key means", () => {
  it("is that of the key under the pointer, with its default and origin", () => {
    const text = "fabric:\n  kind: leaf-spine\n  uplink_rate: 200Gbps\njobs:\n  - name: a\n";
    assert.deepEqual(describe(schema, text, 3, 5), { name: "uplink_rate", meaning: "Rate of the uplinks.", origin: "assumed", fallback: "400Gbps" });
    assert.equal(describe(schema, text, 5, 6)?.meaning, "Name of the job.");
    assert.equal(describe(schema, "other: 1\n", 1, 2), undefined);
  });
});
