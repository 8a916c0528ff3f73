import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { flag, list, number, range, sort, text, word } from "./view-kinds.ts";

describe("values of a view in the address", () => {
  it("are read as they were written", () => {
    const kinds = [
      [text, "leaf and spine"],
      [flag, true],
      [number, 12.5],
      [sort("created", "desc"), { key: "jct_ns", order: "asc" }],
      [list(["a"]), ["b", "c"]],
      [list(["a"]), []],
      [range, { from: 100, to: 250.125 }],
      [word(["queue", "jobs"]), "jobs"],
    ] as const;
    for (const [kind, value] of kinds) {
      const written = kind.write(value as never);
      assert.ok(written, JSON.stringify(value));
      assert.deepEqual(kind.read(written), value);
    }
  });

  it("leave out what a page begins with", () => {
    assert.equal(text.write(""), undefined);
    assert.equal(flag.write(false), undefined);
    assert.equal(number.write(null), undefined);
    assert.equal(sort("created", "desc").write({ key: "created", order: "desc" }), undefined);
    assert.equal(list(["a", "b"]).write(["a", "b"]), undefined);
    assert.equal(word(["queue", "jobs"]).write("queue"), undefined);
    assert.equal(range.write(null), undefined);
  });

  it("keep very small ranges, and names with commas", () => {
    for (const span of [{ from: 1e-9, to: 1e-7 }, { from: 0, to: 5e-7 }, { from: -2.5, to: 1e12 }]) assert.deepEqual(range.read(range.write(span) ?? ""), span);
    const names = list(["name"]);
    const chosen = ["read:p99, slowest (ns)", "100%"];
    assert.deepEqual(names.read(names.write(chosen) ?? ""), chosen);
    assert.deepEqual(names.read("a,100%"), ["a", "100%"]);
  });

  it("are those that a page begins with where the address is wrong", () => {
    assert.equal(word(["queue", "jobs"]).read("other"), "queue");
    assert.equal(number.read("many"), null);
    assert.equal(range.read("5..1"), null);
    assert.equal(range.read("1e400..2"), null);
    assert.equal(range.read("x"), null);
  });
});
