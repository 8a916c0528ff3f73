import assert from "node:assert/strict";
import { it } from "node:test";
import { paced } from "./paced";

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

it("does work one at a time, and once more for all that was asked for meanwhile", async () => {
  let [running, most, done] = [0, 0, 0];
  const ask = paced(async () => {
    running += 1;
    most = Math.max(most, running);
    await pause(5);
    running -= 1;
    done += 1;
  });
  for (let turn = 0; turn < 20; turn += 1) ask();
  await pause(80);
  assert.deepEqual([most, done], [1, 2]);
  ask();
  await pause(40);
  assert.equal(done, 3);
});

it("goes on after work that fails", async () => {
  let done = 0;
  const ask = paced(() => {
    done += 1;
    return Promise.reject(new Error("no server"));
  });
  ask();
  await pause(20);
  ask();
  await pause(20);
  assert.equal(done, 2);
});
