/**
 * Checks the store: that it answers and keeps what was written, and that its expired records and its clock are in order.
 *
 * @module
 */
import { randomId } from "../../../crypto/secret.ts";
import { FORMAT_KEY } from "../../../store/format.ts";
import { type Store, timeOf } from "../../../store/store.ts";
import { fail, type Finding, ok, warn } from "./finding.ts";

const SLOW_MS = 500;
/** More expired records than a server that sweeps every minute leaves. */
const MAX_EXPIRED = 10_000;
/** From which difference on the clocks are wrong, and tokens are refused elsewhere. */
const CLOCK_WARN_MS = 5000;
const CLOCK_FAIL_MS = 60_000;
const RECORD_LIFETIME_MS = 60_000;

/** Writes, reads and removes a record. */
export async function checkRoundTrip(store: Store): Promise<readonly Finding[]> {
  const key = ["doctor", randomId("")];
  const value = { text: randomId("") };
  const began = performance.now();
  const expires = timeOf(store) + RECORD_LIFETIME_MS;
  const isWritten = await store.commit({ check: [{ key, version: null }], set: [{ key, value, expires }] });
  const read = await store.get<typeof value>(key);
  await store.commit({ remove: [key] });
  const isRemoved = await store.get(key) === undefined;
  const milliseconds = Math.round(performance.now() - began);
  if (!isWritten || read?.value.text !== value.text || !isRemoved) {
    return [fail("store", "a record that was written was not read back", "restore a backup on a sound disk")];
  }
  const what = `a record was written, read and removed in ${milliseconds} ms`;
  return [
    milliseconds > SLOW_MS
      ? warn("store", what, "move the store nearer to the server, or find out what slows its disk")
      : ok("store", what),
  ];
}

/** What an acknowledged commit survives. */
export function checkDurable({ guarantees: { durable } }: Store): readonly Finding[] {
  if (durable === "power") return [ok("durable", "an acknowledged commit survives a power failure")];
  return [
    durable === "process"
      ? warn(
        "durable",
        "an acknowledged commit may be lost at a power failure",
        "let the engine sync each commit",
      )
      : fail("durable", "nothing survives the end of the engine", "use a store that is written to disk"),
  ];
}

export async function checkFormat(store: Store): Promise<readonly Finding[]> {
  const entry = await store.get<{ version: number }>(FORMAT_KEY);
  return [ok("format", entry ? `records have format ${entry.value.version}` : "this store needs no format")];
}

/** Removes what has expired, and says whether a server does that as well. */
export async function checkExpired(store: Store): Promise<readonly Finding[]> {
  const count = await store.sweep();
  return [
    count > MAX_EXPIRED
      ? warn(
        "expired",
        `${count} expired records were left over, and are removed now`,
        "let a server run: it removes them every minute",
      )
      : ok("expired", "expired records are removed"),
  ];
}

/** Compares the clock of the engine, by which records expire, with that of this machine. */
export function checkClock(store: Store, now: () => number): readonly Finding[] {
  if (!store.now) return [ok("clock", "the store uses the clock of this machine")];
  return [judgeClock("the engine of the store", store.now() - now())];
}

/** @param difference how far the other clock is ahead of that of this machine, in milliseconds */
export function judgeClock(whose: string, difference: number): Finding {
  const seconds = Math.abs(difference / 1000).toFixed(1);
  const what = `the clock of ${whose} is ${seconds} s ${difference < 0 ? "behind" : "ahead"}`;
  const advice = "synchronize both machines by NTP";
  if (Math.abs(difference) >= CLOCK_FAIL_MS) return fail("clock", what, advice);
  return Math.abs(difference) >= CLOCK_WARN_MS ? warn("clock", what, advice) : ok("clock", what);
}
