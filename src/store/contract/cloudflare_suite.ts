/**
 * The store contract and Trivet on D1 and in a Durable Object. `cloudflare_node_test.ts` runs this inside workerd. Only
 * tests import this.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createTrivet } from "../../trivet.ts";
import { createApiKey } from "../../skills/api_key.ts";
import { SCHEMA } from "../drivers/cloudflare_rows.ts";
import { storeContract } from "./contract.ts";
import { type D1Binding, d1Store } from "../drivers/d1.ts";
import { type DurableObjectBinding, durableObjectStore } from "../drivers/durable_object.ts";
import type { Store } from "../store.ts";

const { database, storage } = (globalThis as unknown as {
  CLOUDFLARE: { database: D1Binding; storage: DurableObjectBinding };
}).CLOUDFLARE;

const TABLES = ["record", "sequence"];

async function emptyD1(now?: () => number): Promise<Store> {
  await database.batch(TABLES.map((table) => database.prepare(`DROP TABLE IF EXISTS ${table}`)));
  return d1Store(database, { pollEvery: 20, ...(now && { now }) });
}

function emptyObject(now?: () => number): Store {
  for (const table of TABLES) storage.sql.exec(`DROP TABLE IF EXISTS ${table}`);
  return durableObjectStore(storage, now ? { now } : {});
}

storeContract("D1", {
  open: emptyD1,
  reopen: async (now, options) => d1Store(database, { pollEvery: 20, now, ...options }),
  rounds: 50,
});
storeContract("Durable Object", {
  open: async (now) => emptyObject(now),
  reopen: async (now, options) => durableObjectStore(storage, { now, ...options }),
  rounds: 200,
});

const test = suite("Trivet on D1 and Durable Objects");

for (const [name, open] of [["D1", emptyD1], ["a Durable Object", async () => emptyObject()]] as const) {
  test(`${name}: tokens are issued, and a skill of 3 MB is uploaded, read and deleted`, async () => {
    const store = await open();
    const { secret } = await createApiKey(store, { name: "test" });
    const trivet = createTrivet({
      issuer: "http://127.0.0.1",
      store,
      oauth: { clients: [{ id: "app", secret: "secret" }] },
    });
    const send = (path: string, init?: RequestInit) =>
      trivet.fetch(new Request(`http://127.0.0.1${path}`, init));
    const grant = { grant_type: "client_credentials", client_id: "app", client_secret: "secret" };
    const issued = await send("/oauth/token", { method: "POST", body: new URLSearchParams(grant) });
    assert.is(issued.status, 200);
    const body = new FormData();
    body.append("files[]", new File(["---\nname: large\ndescription: A large one.\n---\n"], "SKILL.md"));
    body.append("files[]", new File([new Uint8Array(3_000_000).fill(65)], "large.txt"));
    const headers = { "x-api-key": secret };
    const uploaded = await send("/v1/skills", { method: "POST", body, headers });
    assert.is(uploaded.status, 200);
    const { id } = await uploaded.json();
    const principal = { workspace: "default", scopes: new Set(["skills:read"]) };
    const file = await trivet.skills!.catalog.read(principal, id, "large.txt");
    assert.ok(file!.bytes.length === 3_000_000 && file!.bytes.every((byte) => byte === 65));
    assert.is((await send(`/v1/skills/${id}`, { method: "DELETE", headers })).status, 200);
    assert.equal(await store.list(["blob_data"]), []);
    await store.close();
  });
}

test("D1: a commit with a value over the size limit of a row is refused before anything is sent", async () => {
  const store = await emptyD1();
  const error = await store.commit({
    set: [{ key: ["k"], value: 1 }, { key: ["b"], value: new Uint8Array(2_000_000) }],
  })
    .catch((error: Error) => error) as Error;
  assert.instance(error, RangeError);
  assert.match(error.message, /1900000.*2000000/);
  assert.is(await store.get(["k"]), undefined);
});

test("D1: two stores on one empty database create its tables once and are notified of each other's commits", async () => {
  await (await emptyD1()).close();
  const [a, b] = [d1Store(database, { pollEvery: 20 }), d1Store(database, { pollEvery: 20 })];
  await Promise.all([a.get(["x"]), b.get(["x"])]);
  const reader = a.watch(["w"]).getReader();
  // The first poll only reads the current version.
  await new Promise((resolve) => setTimeout(resolve, 100));
  await b.commit({ set: [{ key: ["w", 1], value: 1 }] });
  assert.equal((await reader.read()).value, [["w"]]);
  await a.close();
  await b.close();
});

test("the schema can be applied again without losing records", async () => {
  const store = emptyObject();
  await store.commit({ set: [{ key: ["k"], value: 1 }] });
  for (const sql of [...SCHEMA, ...SCHEMA]) storage.sql.exec(sql);
  assert.is((await store.get(["k"]))?.value, 1);
  await store.close();
});

test.run();
