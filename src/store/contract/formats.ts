/**
 * The tests of format records: which stores a driver opens again.
 *
 * @module
 */
import * as assert from "uvu/assert";
import { CURRENT_FORMAT, FORMAT_KEY, FORMAT_VERSION } from "../format.ts";
import type { Commit, Key, Store } from "../store.ts";
import type { ContractOptions, ContractSuite, TestClock } from "./suite.ts";

/** @param reopen of a store that persists */
export function formatTests(test: ContractSuite, reopen: NonNullable<ContractOptions["reopen"]>): void {
  const errorOf = async (clock: TestClock, allowOlder = false): Promise<Error | undefined> => {
    let store: Store | undefined;
    try {
      store = await reopen(clock.now, { allowOlder });
      await store.get(["kept"]);
    } catch (error) {
      return error as Error;
    } finally {
      await store?.close();
    }
  };
  const put = (key: Key, value: unknown) => ({ set: [{ key, value }] });

  test("a new store gets a format record and can be opened again", async ({ store, clock }) => {
    await store.commit(put(["kept"], 1));
    assert.equal((await store.get(FORMAT_KEY))?.value, CURRENT_FORMAT);
    const again = await reopen(clock.now);
    assert.is((await again.get(["kept"]))?.value, 1);
    await again.close();
  });

  test("a store without a format record gets one when no kind of its records ever changed", async ({ store, clock }) => {
    await store.commit({ ...put(["username", "ada"], "u"), remove: [FORMAT_KEY] });
    const again = await reopen(clock.now);
    assert.is((await again.get(["username", "ada"]))?.value, "u");
    assert.equal((await again.get(FORMAT_KEY))?.value, CURRENT_FORMAT);
    await again.close();
  });

  const { kinds } = CURRENT_FORMAT;
  const invalid: readonly unknown[] = [
    { version: FORMAT_VERSION + 1 },
    { version: 0 },
    { version: "1" },
    {},
    null,
    7,
    { version: FORMAT_VERSION, kinds: { ...kinds, client: kinds.client! + 1 } },
    { version: FORMAT_VERSION, kinds: { ...kinds, of_a_newer_version: 1 } },
    { version: FORMAT_VERSION, kinds, upgrading: { client: kinds.client! + 1 } },
  ];
  for (const format of invalid) {
    const { kinds: _, ...shown } = (format ?? { kinds }) as { kinds?: unknown };
    test(`a store of format ${JSON.stringify(shown)} (${invalid.indexOf(format)}) is refused`, async ({ store, clock }) => {
      await store.commit({ set: [...put(FORMAT_KEY, format).set, ...put(["kept"], 1).set] });
      for (const allowOlder of [false, true]) {
        assert.is((await errorOf(clock, allowOlder))?.name, "StoreFormatError");
      }
      assert.equal((await store.get(FORMAT_KEY))?.value, format, "the format record is unchanged");
    });
  }

  const client: Key = ["client", "c"];
  const older: readonly [name: string, commit: Commit][] = [
    ["without a format record", { ...put(client, { id: "c" }), remove: [FORMAT_KEY] }],
    ["of format 1", { set: [...put(client, { id: "c" }).set, ...put(FORMAT_KEY, { version: 1 }).set] }],
    [
      "of which a kind is older",
      put(FORMAT_KEY, { version: FORMAT_VERSION, kinds: { ...kinds, client: 1 } }),
    ],
  ];
  for (const [name, commit] of older) {
    test(`a store ${name} opens for an upgrade only, and is not marked`, async ({ store, clock }) => {
      await store.commit(commit);
      const before = (await store.get(FORMAT_KEY))?.value;
      assert.is((await errorOf(clock))?.name, "StoreFormatError");
      assert.is(await errorOf(clock, true), undefined);
      assert.equal((await store.get(FORMAT_KEY))?.value, before);
    });
  }
}
