import assert from "node:assert/strict";
import { it } from "node:test";
import { gzipSync } from "node:zlib";
import { answered, canonical } from "./embedded";

it("knows an address whatever the order and the encoding of its parameters", () => {
  assert.equal(canonical("/api/v1/trials/1/tables/ports?where=queue_pairs+%3E%200&limit=5&sort="), "/api/v1/trials/1/tables/ports?limit=5&where=queue_pairs > 0");
  assert.equal(canonical("/api/v1/trials/1/ports/leaf0%3A3"), "/api/v1/trials/1/ports/leaf0:3");
});

it("answers what it has, with the error of the server where there was one", async () => {
  const has = gzipSync(JSON.stringify({ name: "ä" })).toString("base64");
  const answers = { "/api/v1/trials/1": has, "/api/v1/trials/1/fabric": [409, '{"error":{"message":"no"}}'] as [number, string] };
  assert.deepEqual(await (await answered(answers, "/api/v1/trials/1?")).json(), { name: "ä" });
  assert.equal((await answered(answers, "/api/v1/trials/1/fabric")).status, 409);
  const missing = await answered(answers, "/api/v1/trials/2");
  assert.equal(missing.status, 404);
  assert.match((await missing.json()).error.help, /tenter ui/);
});
