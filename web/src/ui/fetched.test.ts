import assert from "node:assert/strict";
import { it } from "node:test";
import { fetchedOnce, forgetFailed, NotFetched } from "./fetched";

it("asks once for what it gets, and again for what it did not get", async () => {
  let [asked, here] = [0, false];
  const once = fetchedOnce(() => {
    asked += 1;
    return here ? Promise.resolve("page") : Promise.reject(new TypeError("Failed to fetch dynamically imported module"));
  });
  await assert.rejects(once, NotFetched);
  // A page that is drawn again does not ask again by itself.
  await assert.rejects(once, NotFetched);
  assert.equal(asked, 1);
  here = true;
  forgetFailed();
  assert.equal(await once(), "page");
  forgetFailed();
  assert.equal(await once(), "page");
  assert.equal(asked, 2);
});
