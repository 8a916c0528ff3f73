/** The place of the last instant that is not after a time, or of the first; none where there is no time or no instant. */
export function instantAt(times: readonly number[], time: number | null): number | null {
  if (time === null || times.length === 0) return null;
  const after = times.findIndex((one) => one > time);
  return after < 0 ? times.length - 1 : Math.max(after - 1, 0);
}
