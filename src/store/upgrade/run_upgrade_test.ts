import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../drivers/memory.ts";
import { CURRENT_FORMAT, FORMAT_KEY, StoreFormatError } from "../format.ts";
import type { Commit, Entry, Key, Store } from "../store.ts";
import { beginUpgrade, readFormat, upgradeStore } from "./run_upgrade.ts";
import { fillOlder, recordsOf } from "./test_older_store.ts";
import { applySteps, findSteps, UPGRADE_STEPS } from "./upgrade_steps.ts";

const test = suite("store/upgrade");

async function older(grants = 100): Promise<Store> {
  const store = memoryStore();
  await fillOlder(store, grants);
  return store;
}

/** A store whose commits a function may replace. */
function intercepted(store: Store, commit: (commit: Commit) => Promise<boolean>): Store {
  return {
    guarantees: store.guarantees,
    get: (key) => store.get(key),
    list: (prefix, options) => store.list(prefix, options),
    commit,
    watch: (prefix) => store.watch(prefix),
    sweep: () => store.sweep(),
    close: () => store.close(),
  };
}

async function valueOf<Value>(store: Store, ...key: Key): Promise<Value | undefined> {
  return (await store.get<Value>(key))?.value;
}

test("every record gets the current form, and the format record says so", async () => {
  const store = await older();
  const done = await upgradeStore(store);
  assert.equal(done.find(({ kind }) => kind === "grant"), {
    kind: "grant",
    to: 2,
    read: 101,
    changed: 100,
    removed: 1,
    after: ["grant", "g000099"],
  });
  assert.equal(await valueOf(store, ...FORMAT_KEY), CURRENT_FORMAT);
  assert.equal(await valueOf(store, "client", "early"), {
    id: "early",
    name: "Early",
    secret_digest: "d",
    created: 1,
    source: "operator",
    token_endpoint_auth_method: "client_secret_basic",
  });
  const open = await valueOf<{ token_endpoint_auth_method: string }>(store, "client", "early_public");
  assert.is(open!.token_endpoint_auth_method, "none");
  assert.is((await valueOf<{ source: string }>(store, "client", "later"))!.source, "registration");
  for (
    const gone of [["signing_key", "current"], ["key_set", "d"], ["session", "early"], ["grant", "early"], [
      "access_token",
      "early",
    ]]
  ) {
    assert.is(await store.get(gone), undefined, gone.join());
  }
  assert.ok(await store.get(["signing_key", "ES256", 1]));
  const session = (await store.get<{ id: string }>(["session", "s"]))!;
  assert.match(session.value.id, /^[\w-]{43}$/);
  assert.is((await store.get(["user_session", "ada", "s"]))!.expires, session.expires);
  const grant =
    (await store.get<{ listed: number; until: number; user: string }>(["grant", "g000000"]))!.value;
  assert.is(grant.listed, grant.until);
  assert.is((await store.get(["user_grant", grant.user, "g000000"]))!.expires, grant.until);
  const version = ["default", "skill_0", "skver_0"];
  const { tokens, files, listed, ...summary } = (await valueOf<Record<string, unknown>>(
    store,
    "skill_version",
    ...version,
  ))!;
  assert.equal([tokens, files, listed], [{ metadata: 1, instructions: 1 }, [], true]);
  assert.equal(await valueOf(store, "skill_version_summary", ...version), summary);
  assert.equal(await store.list(["upgrade"]), [], "no position is left");
});

test("a second upgrade changes nothing", async () => {
  const store = await older();
  await upgradeStore(store);
  const before = await store.list([], { limit: 1e5 });
  assert.equal(await upgradeStore(store), []);
  assert.equal(await store.list([], { limit: 1e5 }), before);
});

test("a dry run counts what would be done, and changes nothing", async () => {
  const store = await older();
  const before = await store.list([], { limit: 1e5 });
  const found = await upgradeStore(store, { dryRun: true });
  assert.equal(await store.list([], { limit: 1e5 }), before);
  const done = await upgradeStore(store);
  assert.equal(
    found,
    done.map(({ kind, to, read, changed, removed }) => ({ kind, to, read, changed, removed })),
  );
});

test("an upgrade that stops after any commit goes on where it stopped", async () => {
  const whole = await older(60);
  let commits = 0;
  await upgradeStore(intercepted(whole, (commit) => (commits++, whole.commit(commit))));
  assert.ok(commits > 15, String(commits));
  for (let stop = 1; stop < commits; stop++) {
    const store = await older(60);
    let left = stop;
    const stopping = intercepted(store, (commit) => {
      if (left-- === 0) throw new Error("stopped");
      return store.commit(commit);
    });
    const error = await upgradeStore(stopping).catch((error: Error) => error) as Error;
    assert.is(error.message, "stopped");
    // The marked store is no longer one that earlier versions accept, and not yet a current one.
    assert.is((await readFormat(store)).format.version, CURRENT_FORMAT.version);
    assert.ok(findSteps((await readFormat(store)).format).length > 0);
    let again = 0;
    await upgradeStore(intercepted(store, (commit) => (again++, store.commit(commit))));
    assert.ok(again <= commits - stop + 1, `${again} of ${commits} commits after ${stop}`);
    assert.equal(await timeless(store), await timeless(whole));
  }
});

/** The records without times, which differ between stores. */
async function timeless(store: Store): Promise<string> {
  return JSON.stringify(await recordsOf(store)).replace(/\d{13}/g, "time");
}

test("several upgraders at once do each change once", async () => {
  const alone = await older();
  await upgradeStore(alone);
  const store = await older();
  const seen = new Map<string, number>();
  const counting = intercepted(store, async (commit) => {
    // Lets the others read the same batch.
    await new Promise((resolve) => setTimeout(resolve, 1));
    const done = await store.commit(commit);
    for (const { key } of done ? commit.set ?? [] : []) {
      if (key[0] !== "grant") continue;
      seen.set(String(key[1]), (seen.get(String(key[1])) ?? 0) + 1);
    }
    return done;
  });
  await Promise.all([upgradeStore(counting), upgradeStore(counting), upgradeStore(counting)]);
  assert.equal([...new Set(seen.values())], [1]);
  assert.is(seen.size, 100);
  assert.equal(await timeless(store), await timeless(alone));
});

test("a record that a server changes between the read and the commit keeps that change", async () => {
  const store = await older();
  const changed = new Set<string>();
  const racing = intercepted(store, async (commit) => {
    for (const { key, version } of commit.check ?? []) {
      if (key[0] !== "grant" || key[1] === "early" || changed.has(String(key[1])) || changed.size > 20) {
        continue;
      }
      changed.add(String(key[1]));
      const { value, expires } = (await store.get<object>(key))!;
      assert.ok(version);
      await store.commit({ set: [{ key, value: { ...value, used: 7 }, expires }] });
      break;
    }
    return await store.commit(commit);
  });
  await upgradeStore(racing);
  assert.ok(changed.size > 10, String(changed.size));
  for (const id of changed) {
    const grant = (await valueOf<{ used: number; listed?: number }>(store, "grant", id))!;
    assert.is(grant.used, 7);
    assert.ok(grant.listed);
  }
});

test("records that no step can change refuse the upgrade before anything is changed", async () => {
  const refused: readonly [Key, unknown][] = [
    [["skill", "w", "s"], { id: "s", latest_version: "v" }],
    [["skill_file", "w", "s", "v", "SKILL.md"], new Uint8Array([1])],
    [["blob", "d"], { object: "store/d/x", size: 1, references: 2 }],
    [["revoked_token", "jti"], true],
  ];
  for (const [key, value] of refused) {
    const store = await older(3);
    await store.commit({ set: [{ key, value, expires: Date.now() + 1e6 }] });
    const before = await store.list([], { limit: 1e5 });
    for (const dryRun of [true, false]) {
      const error = await upgradeStore(store, { dryRun }).catch((error: Error) => error) as Error;
      assert.instance(error, StoreFormatError);
      assert.match(error.message, `"${key[0]}"`);
    }
    assert.equal(await store.list([], { limit: 1e5 }), before);
  }
});

test("again: records that an instance of an earlier version wrote after the upgrade are upgraded", async () => {
  const store = await older(3);
  await upgradeStore(store);
  const until = Date.now() + 1e6;
  await store.commit({ set: [{ key: ["grant", "late"], value: { user: "ada", until }, expires: until }] });
  assert.equal(await upgradeStore(store), []);
  assert.is(await store.get(["user_grant", "ada", "late"]), undefined);
  await upgradeStore(store, { again: true });
  assert.ok(await store.get(["user_grant", "ada", "late"]));
  assert.equal(await valueOf(store, ...FORMAT_KEY), CURRENT_FORMAT);
});

for (const wasUpgraded of [false, true]) {
  const interrupted = wasUpgraded ? "an interrupted run with again" : "an interrupted upgrade";
  test(`again: all records are read after ${interrupted}, also those before its position`, async () => {
    const store = await older();
    if (wasUpgraded) await upgradeStore(store);
    const stop = new AbortController();
    await upgradeStore(store, {
      again: wasUpgraded,
      signal: stop.signal,
      onProgress: ({ kind }) => kind === "grant" && stop.abort(),
    });
    assert.is((await store.list(["upgrade"])).length, 1);
    const until = Date.now() + 1e6;
    const late: Key = ["grant", "before all others"];
    await store.commit({ set: [{ key: late, value: { user: "ada", until }, expires: until }] });
    await upgradeStore(store, { again: true });
    assert.ok(await store.get(["user_grant", "ada", late[1]!]));
    assert.equal(await valueOf(store, ...FORMAT_KEY), CURRENT_FORMAT);
    assert.equal(await store.list(["upgrade"]), []);
  });
}

test("a store of a newer version is refused, and an upgrade by a newer version stops this one", async () => {
  const store = await older(100);
  const newer = { ...CURRENT_FORMAT, upgrading: { grant: CURRENT_FORMAT.kinds.grant! + 1 } };
  let commits = 0;
  const overtaken = intercepted(store, async (commit) => {
    const done = await store.commit(commit);
    if (++commits === 5) await store.commit({ set: [{ key: FORMAT_KEY, value: newer }] });
    return done;
  });
  assert.instance(await upgradeStore(overtaken).catch((error) => error), StoreFormatError);
  assert.instance(await upgradeStore(store).catch((error) => error), StoreFormatError);
  assert.equal(await valueOf(store, ...FORMAT_KEY), newer);
});

test("an upgrade marks the store first, so that earlier versions refuse it from then on", async () => {
  const store = await older(3);
  await beginUpgrade(store, UPGRADE_STEPS);
  const format = (await valueOf<typeof CURRENT_FORMAT>(store, ...FORMAT_KEY))!;
  assert.is(format.version, 2);
  assert.is(format.kinds.grant, 1);
  assert.is(format.upgrading?.grant, 2);
  assert.is(format.kinds.user, 1);
});

test("every step has a kind and a version of the table, and all versions above 1 have a step", () => {
  const { kinds } = CURRENT_FORMAT;
  for (const [kind, version] of Object.entries(kinds)) {
    const steps = UPGRADE_STEPS.filter((step) => step.kind === kind).map(({ to }) => to);
    assert.equal(steps, Array.from({ length: version - 1 }, (_, i) => i + 2), kind);
  }
  for (const { kind, adds = [] } of UPGRADE_STEPS) {
    for (const each of [kind, ...adds]) assert.ok(kinds[each], each);
  }
});

test("a step leaves what it made as it is", async () => {
  const store = await older();
  await upgradeStore(store);
  for (const entry of await store.list([], { limit: 1e5 }) as Entry[]) {
    assert.is(applySteps(UPGRADE_STEPS, entry), undefined, entry.key.join());
  }
});

test.run();
