/**
 * Work that is asked for more often than it can be done, as by each trial of a sweep that ends: one at a time,
 * after it a rest of `rests` times as long as it took, and once more where it was asked for meanwhile.
 */
export function paced(work: () => Promise<unknown>, rests = 1): () => void {
  let [busy, again] = [false, false];
  const run = async () => {
    busy = true;
    const began = performance.now();
    await work().catch(() => undefined);
    setTimeout(() => {
      busy = false;
      if (again) ask();
    }, (performance.now() - began) * rests);
  };
  const ask = () => {
    again = busy;
    if (!busy) void run();
  };
  return ask;
}
