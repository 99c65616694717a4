import { suite } from "uvu";
import * as assert from "uvu/assert";
import { secretDigest } from "../crypto/secret.ts";
import type { Key, Store } from "../store/store.ts";
import { parseLimit } from "./limit.ts";
import { createSharedCount, rateLimitKey } from "./shared_count.ts";

// On Node only: it takes seconds, and nothing of it differs between runtimes.
const test = suite("rate_limits/new_records");
const START = Date.UTC(2026, 0, 1);
/** 64 MiB of records of 512 bytes. */
const MAX_NEW_RECORDS = 131_072;

test("records of new callers are bounded within a window; beyond the bound callers are counted in memory", async () => {
  let at = START;
  let commits = 0;
  const known: [number, number][] = [[Math.floor(START * 16 / 60_000), 1]];
  const key = rateLimitKey("address=2/60s", secretDigest("known"));
  const store = {
    get: (wanted: Key) =>
      Promise.resolve(
        wanted[2] === key[2] ? { key: wanted, value: known, version: "1", expires: at + 60_000 } : undefined,
      ),
    commit: () => Promise.resolve(++commits > 0),
  } as unknown as Store;
  const limit = parseLimit("address", "2/1m")!;
  const count = createSharedCount(limit, { store, now: () => at, onFailure: () => assert.unreachable() });
  const add = async (name: string) => {
    const caller = count.find(name);
    await count.add(caller);
    return count.countRemaining(caller);
  };
  for (let i = 0; i < MAX_NEW_RECORDS + 100; i++) await add(`caller ${i}`);
  assert.is(commits, MAX_NEW_RECORDS);
  assert.equal([await add("beyond"), await add("beyond")], [1, 0]);
  assert.is(commits, MAX_NEW_RECORDS);
  await add("known");
  assert.is(commits, MAX_NEW_RECORDS + 1, "a record that exists is written");
  at += 64_000;
  await add("later");
  assert.is(commits, MAX_NEW_RECORDS + 2);
});

test.run();
