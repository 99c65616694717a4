/**
 * `npm run bench -- --costs`: counts the store calls of each request, and measures the bytes of a record of each kind in
 * each engine. The figures of `src/store/README.md` are from it.
 *
 * @module
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { createClient } from "redis";
import { createTrivet, memoryStore } from "../../src/mod.ts";
import { layeredStore } from "../../src/store/drivers/layered.ts";
import { postgresStore } from "../../src/store/drivers/postgres.ts";
import { redisStore } from "../../src/store/drivers/redis.ts";
import { sqliteStore } from "../../src/store/drivers/sqlite.ts";
import type { Put, Store } from "../../src/store/store.ts";
import { findEngine } from "../../src/store/test_engines.ts";
import { dropStore } from "../cluster/cluster.ts";
import { createAccount } from "../faults/load.ts";

const ISSUER = "http://127.0.0.1:8787";
const REDIRECT_URI = "https://load.example/callback";
/** Copies of a record that are stored to measure its size. */
const COPIES = 20_000;

interface Counts {
  get: number;
  list: number;
  commit: number;
}

/** Prints both tables. */
export async function printCosts(): Promise<void> {
  const { flows, records } = await countFlows();
  console.log(`\n${"request".padEnd(44)}${"get".padStart(6)}${"list".padStart(6)}${"commit".padStart(8)}`);
  for (const [name, { get, list, commit }] of flows) {
    console.log(
      `${name.padEnd(44)}${String(get).padStart(6)}${String(list).padStart(6)}${String(commit).padStart(8)}`,
    );
  }
  const sizes: [string, Map<string, number>][] = [["SQLite", await measureSqlite(records)]];
  const address = await findEngine("postgres");
  if (address !== undefined) sizes.push(["PostgreSQL", await measurePostgres(address, records)]);
  const redis = await findEngine("redis");
  if (redis !== undefined) sizes.push(["Redis", await measureRedis(redis, records)]);
  console.log(
    `\n${"bytes per record".padEnd(24)}${"JSON".padStart(8)}${
      sizes.map(([name]) => name.padStart(12)).join("")
    }`,
  );
  for (const [kind, put] of records) {
    const json = put.value instanceof Uint8Array ? put.value.length : JSON.stringify(put.value).length;
    const cells = sizes.map(([, bytes]) => bytes.get(kind)!.toFixed(0).padStart(12)).join("");
    console.log(`${kind.padEnd(24)}${String(json).padStart(8)}${cells}`);
  }
}

/** Runs the flows on a store that counts calls; also returns one record of each kind that they wrote. */
async function countFlows(): Promise<{ flows: Map<string, Counts>; records: Map<string, Put> }> {
  const inner = memoryStore();
  const records = new Map<string, Put>();
  let counts: Counts = { get: 0, list: 0, commit: 0 };
  const store: Store = {
    guarantees: inner.guarantees,
    get: (key) => (counts.get++, inner.get(key)),
    list: (prefix, options) => (counts.list++, inner.list(prefix, options)),
    commit(commit) {
      counts.commit++;
      // The caller may transfer the bytes of a value after the commit.
      for (const put of commit.set ?? []) records.set(String(put.key[0]), structuredClone(put));
      return inner.commit(commit);
    },
    watch: (prefix) => inner.watch(prefix),
    sweep: () => inner.sweep(),
    close: () => inner.close(),
  };
  const cached = layeredStore(store, { lifetime: 5000 });
  const flows = new Map<string, Counts>();
  for (const [suffix, used] of [["", store], [", cached", cached]] as const) {
    const account = await createAccount(used);
    const trivet = createTrivet({ issuer: ISSUER, store: used, oauth: { passwordIterations: 1000 } });
    const step = async (name: string, path: string, init: RequestInit = {}): Promise<Response> => {
      counts = { get: 0, list: 0, commit: 0 };
      const own = counts;
      const response = await trivet.fetch(new Request(ISSUER + path, init));
      const body = await response.arrayBuffer();
      counts = { get: 0, list: 0, commit: 0 };
      if (response.status >= 400) {
        throw new Error(`${name}: ${response.status} ${new TextDecoder().decode(body)}`);
      }
      if (suffix === "" || /introspection|user info|tool call with|client_credentials/.test(name)) {
        flows.set(name + suffix, own);
      }
      return new Response(response.status === 204 ? null : body, response);
    };
    await runFlows(step, account);
  }
  return { flows, records };
}

async function runFlows(
  step: (name: string, path: string, init?: RequestInit) => Promise<Response>,
  { client_id, client_secret, username, password, api_key }: Awaited<ReturnType<typeof createAccount>>,
): Promise<void> {
  const form = (fields: Record<string, string>, cookie = ""): RequestInit => ({
    method: "POST",
    body: new URLSearchParams(fields),
    headers: cookie === "" ? {} : { cookie },
  });
  const credentials = { client_id, client_secret };
  const login = await step("login", "/login", form({ username, password }));
  const cookie = login.headers.get("set-cookie")!.split(";")[0]!;
  const query = new URLSearchParams({
    response_type: "code",
    client_id,
    redirect_uri: REDIRECT_URI,
    scope: "profile read",
  });
  const page = await step("authorization request (consent page)", `/oauth/authorize?${query}`, {
    headers: { cookie },
  });
  const transaction = /name="transaction" value="([^"]+)"/.exec(await page.text())![1]!;
  const consent = await step(
    "consent",
    "/oauth/authorize",
    form({ transaction, decision: "approve" }, cookie),
  );
  const code = new URL(consent.headers.get("location")!).searchParams.get("code")!;
  const redeem = { grant_type: "authorization_code", code, redirect_uri: REDIRECT_URI, ...credentials };
  const first = await (await step("code for tokens", "/oauth/token", form(redeem))).json();
  const refresh = { grant_type: "refresh_token", refresh_token: first.refresh_token, ...credentials };
  const second = await (await step("refresh", "/oauth/token", form(refresh))).json();
  for (let i = 0; i < 2; i++) {
    await step("introspection", "/oauth/introspect", form({ token: second.access_token, ...credentials }));
    await step("user info", "/api/user", { headers: { authorization: `Bearer ${second.access_token}` } });
    const call = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "load_skill", arguments: { name: "none" } },
    };
    const headers = { "content-type": "application/json", authorization: `Bearer ${second.access_token}` };
    const list = { ...call, method: "tools/list", params: {} };
    await step("tool call with a token (tools/list)", "/mcp", {
      method: "POST",
      headers,
      body: JSON.stringify(list),
    });
    await step(
      "client_credentials",
      "/oauth/token",
      form({ grant_type: "client_credentials", ...credentials, scope: "read" }),
    );
  }
  const body = new FormData();
  body.append(
    "files[]",
    new File([`---\nname: costs\ndescription: ${"x".repeat(200)}\n---\n${"y".repeat(2000)}`], "SKILL.md"),
  );
  body.append("files[]", new File(["z".repeat(1000)], "notes.txt"));
  const headers = { "x-api-key": api_key };
  const { id } =
    await (await step("upload of a skill, two files", "/v1/skills", { method: "POST", body, headers }))
      .json();
  await step("page of skills", "/v1/skills", { headers });
  const load = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "load_skill", arguments: { name: id } },
  };
  await step("tool call: load a skill", "/mcp", {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(load),
  });
  await step("deletion of a skill, two files", `/v1/skills/${id}`, { method: "DELETE", headers });
  await step(
    "revocation of a refresh token",
    "/oauth/revoke",
    form({ token: second.refresh_token, ...credentials }),
  );
}

/** Stores many copies of a record. The last part of each key differs and has the same length, like digests and ids. */
async function fill(store: Store, { key, value, expires }: Put): Promise<void> {
  const word = String(key.at(-1));
  for (let at = 0; at < COPIES; at += 500) {
    const set = Array.from({ length: 500 }, (_, i) => {
      const other = `${crypto.randomUUID()}${crypto.randomUUID()}`.slice(0, Math.max(8, word.length - 6)) +
        String(at + i).padStart(6, "0");
      return {
        key: [...key.slice(0, -1), ...(key.length === 1 ? [key[0]!] : []), other],
        value,
        expires: expires && Date.now() + 1e7,
      };
    });
    await store.commit({ set });
  }
}

async function measureEach(
  records: ReadonlyMap<string, Put>,
  open: () => Promise<{ store: Store; size(): Promise<number>; close(): Promise<void> }>,
): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const [kind, put] of records) {
    const { store, size, close } = await open();
    await store.get(["nothing"]);
    const before = await size();
    await fill(store, put);
    found.set(kind, (await size() - before) / COPIES);
    await close();
  }
  return found;
}

function measureSqlite(records: ReadonlyMap<string, Put>): Promise<Map<string, number>> {
  return measureEach(records, async () => {
    const folder = mkdtempSync(join(tmpdir(), "trivet-costs-"));
    const file = join(folder, "costs.db");
    const store = sqliteStore(file);
    const database = new DatabaseSync(file);
    return {
      store,
      async size() {
        database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
        return statSync(file).size;
      },
      async close() {
        database.close();
        await store.close();
        rmSync(folder, { recursive: true });
      },
    };
  });
}

function measurePostgres(address: string, records: ReadonlyMap<string, Put>): Promise<Map<string, number>> {
  return measureEach(records, async () => {
    const schema = "trivet_costs";
    const own = `${address}?schema=${schema}`;
    const sql = postgres(address, { max: 1, onnotice: () => {} });
    const store = postgresStore(own);
    return {
      store,
      async size() {
        const [row] = await sql.unsafe(`SELECT pg_total_relation_size('${schema}.record')::int AS size`);
        return row!.size as number;
      },
      async close() {
        await store.close();
        await sql.end();
        await dropStore(own);
      },
    };
  });
}

function measureRedis(address: string, records: ReadonlyMap<string, Put>): Promise<Map<string, number>> {
  return measureEach(records, async () => {
    const own = `${address}?name=trivet_costs`;
    const client = await createClient({ url: address }).connect();
    const store = redisStore(own);
    return {
      store,
      size: async () => Number(/used_memory:(\d+)/.exec(await client.info("memory"))![1]),
      async close() {
        await store.close();
        client.destroy();
        await dropStore(own);
      },
    };
  });
}
