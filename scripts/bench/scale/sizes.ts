/**
 * `npm run bench -- --sizes [--only memory|SQLite|PostgreSQL|Redis[: CALL]] [--scale 1000000]`: the calls of every hot path with 1,
 * 1,000, 100,000 and more records in the store, each compared with the same call at the smallest size. Flat is within a fifth:
 * the target is a ratio of 0.8.
 *
 * The records are copies of those that the server wrote itself, under other keys: access tokens, grants with refresh
 * tokens, ended sessions, skills with their index records, files of skills, and groups of audit records. Records that have
 * expired come with each sweep.
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createTrivet, memoryStore, tool, type Trivet } from "../../../src/mod.ts";
import { addUser } from "../../../src/oauth/users/user.ts";
import { createAudit } from "../../../src/observability/audit.ts";
import { createApiKey } from "../../../src/skills/api_key.ts";
import { createLedger } from "../../../src/skills/blobs/blob_ledger.ts";
import { readAll, storeBlobs } from "../../../src/skills/blobs/blob_store.ts";
import { publish } from "../../../src/skills/publishing/publish.ts";
import { postgresStore } from "../../../src/store/drivers/postgres.ts";
import { redisStore } from "../../../src/store/drivers/redis.ts";
import { sqliteStore } from "../../../src/store/drivers/sqlite.ts";
import type { Entry, Key, Put, Store } from "../../../src/store/store.ts";
import { findEngine } from "../../../src/store/test_engines.ts";
import { dropStore } from "../../cluster/cluster.ts";
import { measure, printResults, type Result, type Subject } from "../harness.ts";

const ISSUER = "http://127.0.0.1:8787";
const TARGET = 0.8;
const SIZES = [1, 1000, 100_000, 1_000_000];
const CREDENTIALS = "client_id=app&client_secret=secret";
/** Records of one commit while a store is filled. */
const BATCH = 2000;
/** A small file of a skill. Files are stored in pieces of half a megabyte, each in a record. */
const BLOB = new Uint8Array(1000).fill(120);
/** Expired records of each sweep: one statement of the engines removes 1,000. */
const SWEPT = 1000;

interface Opened {
  readonly store: Store;
  close(): Promise<void>;
}

/** Opens an empty store. @param name of this size */
type Open = (name: string) => Promise<Opened | undefined>;

const DRIVERS: Readonly<Record<string, Open>> = {
  async memory() {
    const store = memoryStore();
    return { store, close: () => store.close() };
  },
  async SQLite(name) {
    const folder = mkdtempSync(join(tmpdir(), "trivet-bench-"));
    const store = sqliteStore(join(folder, `${name}.db`));
    const close = async (): Promise<void> => {
      await store.close();
      rmSync(folder, { recursive: true });
    };
    return { store, close };
  },
  PostgreSQL: (name) => openEngine("postgres", `?schema=${name}`, postgresStore),
  Redis: (name) => openEngine("redis", `?name=${name}`, redisStore),
};

async function openEngine(
  engine: "postgres" | "redis",
  query: string,
  open: (address: string) => Store,
): Promise<Opened | undefined> {
  const found = await findEngine(engine);
  if (found === undefined) return undefined;
  const address = found + query;
  await dropStore(address);
  const store = open(address);
  const close = async (): Promise<void> => {
    await store.close();
    await dropStore(address);
  };
  return { store, close };
}

/** @param largest number of records @param only a part of a driver's name, and after `: ` of a call's name */
export async function measureSizes(
  rounds: number,
  slice: number,
  largest: number,
  only = "",
): Promise<Result[]> {
  const all: Result[] = [];
  const [onlyDriver = "", onlyCall = ""] = only.split(": ");
  for (const [driver, open] of Object.entries(DRIVERS).filter(([name]) => name.includes(onlyDriver))) {
    const opened: Opened[] = [];
    try {
      const subjects: Subject[] = [];
      for (const size of SIZES.filter((each) => each <= largest)) {
        const target = await open(`trivet_bench_${process.pid}_${size}`);
        if (!target) break;
        opened.push(target);
        subjects.push(...await createSubjects(driver, target.store, size));
      }
      // Otherwise the system writes what was filled in while the first rounds wait for the disk.
      if (process.platform !== "win32") spawnSync("sync");
      const selected = subjects.filter(({ name }) => name.includes(onlyCall));
      const results = await measure(selected, rounds, slice);
      printResults(`${driver}, by number of records`, results);
      all.push(...results);
    } finally {
      for (const each of opened) await each.close();
    }
  }
  return all;
}

async function createSubjects(driver: string, store: Store, size: number): Promise<Subject[]> {
  const trivet = createTrivet({
    issuer: ISSUER,
    store,
    oauth: { clients: [{ id: "app", secret: "secret", domain: "app.example" }] },
    mcp: { tools: [tool({ name: "one", description: "One", run: () => "1" })] },
  });
  const send = async (path: string, init: RequestInit): Promise<Response> => {
    const response = await trivet.fetch(new Request(ISSUER + path, init));
    if (response.status !== 200) throw new Error(`${path}: ${response.status}: ${await response.text()}`);
    return response;
  };
  const tokens = await runCodeFlow(trivet, store);
  let { refresh_token } = tokens;
  const { secret: apiKey } = await createApiKey(store, { name: "bench" });
  const content = { name: "demo", description: "A skill.", directory: "", files: [], warnings: [] };
  const packaged = { ...content, tokens: { metadata: 8, instructions: 10 } };
  const ledger = createLedger(store, Date.now);
  for (let i = 0; i < 40; i++) await publish(ledger, "default", packaged, { now: Date.now() + i });
  const audit = createAudit({ store });
  const event = { type: "token_issued", grant_type: "client_credentials", client: "app" } as const;
  audit.add(event);
  await audit.flush();
  const session = await openSession(trivet);
  const blobs = storeBlobs(store);
  const blobName = (n: number): string => `store/${"0".repeat(64)}/${n}`;
  await blobs.put(blobName(0), BLOB, BLOB.length, "");
  const started = performance.now();
  await fill(store, size);
  console.log(
    `${driver}: ${size.toLocaleString("en")} records in ${Math.round(performance.now() - started)} ms`,
  );

  const form = (body: string): RequestInit => {
    const headers = {
      "content-type": "application/x-www-form-urlencoded",
      "content-length": `${body.length}`,
    };
    return { method: "POST", body, headers };
  };
  const call = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "one" } });
  let swept = 0;
  let written = 0;
  const calls: Readonly<Record<string, () => Promise<unknown>>> = {
    introspection: () => send("/oauth/introspect", form(`token=${tokens.access_token}&${CREDENTIALS}`)),
    token: () => send("/oauth/token", form(`grant_type=client_credentials&scope=read&${CREDENTIALS}`)),
    async refresh() {
      const body = `grant_type=refresh_token&refresh_token=${refresh_token}&${CREDENTIALS}`;
      ({ refresh_token } = await (await send("/oauth/token", form(body))).json());
    },
    "session call": () =>
      send("/mcp", {
        method: "POST",
        body: call,
        headers: { ...session, "content-length": `${call.length}` },
      }),
    "skills, page of 20": () => send("/v1/skills?limit=20", { headers: { "x-api-key": apiKey } }),
    async "audit append"() {
      audit.add(event);
      await audit.flush();
    },
    async "file of a skill, read"() {
      await readAll((await blobs.get(blobName(0)))!, BLOB.length);
    },
    async "file of a skill, write and remove"() {
      const name = blobName(++written);
      await blobs.put(name, BLOB, BLOB.length, "");
      await blobs.remove(name);
    },
    async [`sweep of ${SWEPT.toLocaleString("en")}`]() {
      const set = Array.from(
        { length: SWEPT },
        (): Put => ({ key: ["used", "dpop", swept++], value: 1, expires: 1 }),
      );
      await store.commit({ set });
      await store.sweep();
    },
  };
  return Object.entries(calls).map(([name, run]): Subject => {
    const subject = { name: `${driver}: ${name}, ${size.toLocaleString("en")}`, prepare: async () => run };
    return size === SIZES[0]
      ? subject
      : { ...subject, baseline: `${driver}: ${name}, ${SIZES[0]}`, target: TARGET };
  });
}

/** Fills the store with copies of its records, in the proportions of a busy server. */
async function fill(store: Store, size: number): Promise<void> {
  const expires = Date.now() + 7_200_000;
  const first = async (kind: string): Promise<Entry> => (await store.list([kind], { limit: 1 }))[0]!;
  const kinds = [
    ...await Promise.all(
      ["access_token", "grant", "user_grant", "skill", "skill_name", "skill_version", "audit", "blob_data"]
        .map(first),
    ),
    { key: ["mcp_session_end", "x"], value: true, version: "", expires } satisfies Entry,
  ];
  let set: Put[] = [];
  for (let i = 0; i < size; i++) {
    const { key, value, expires } = kinds[i % kinds.length]!;
    // After those of the server, in the order in which ids come. Each file is of one piece.
    const last = key.at(-1)!;
    const part = typeof last === "number" && key[0] !== "blob_data"
      ? 1e9 + i
      : `${String(last).slice(0, 8)}${i.toString(36).padStart(35, "z")}`;
    const copied: Key = key[0] === "blob_data"
      ? [...key.slice(0, -2), `store/${part}`, last]
      : [...key.slice(0, -1), part];
    set.push(expires === undefined ? { key: copied, value } : { key: copied, value, expires });
    if (set.length < BATCH && i < size - 1) continue;
    await store.commit({ set });
    set = [];
  }
}

/** Opens a session; resolves to the header fields of its requests. */
async function openSession(trivet: Trivet): Promise<Record<string, string>> {
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const params = {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "bench", version: "1" },
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
  const response = await trivet.fetch(new Request(`${ISSUER}/mcp`, { method: "POST", body, headers }));
  return {
    ...headers,
    "mcp-protocol-version": "2025-11-25",
    "mcp-session-id": response.headers.get("mcp-session-id")!,
  };
}

/** Signs a user in and redeems a code. */
async function runCodeFlow(
  trivet: Trivet,
  store: Store,
): Promise<Record<"access_token" | "refresh_token", string>> {
  await addUser(store, { username: "alice", password: "wonderland" }, 1000);
  const send = (path: string, fields?: Record<string, string>, cookie = ""): Promise<Response> =>
    trivet.fetch(
      new Request(ISSUER + path, {
        ...(fields && { method: "POST", body: new URLSearchParams(fields) }),
        headers: { cookie },
      }),
    );
  const login = await send("/login", { username: "alice", password: "wonderland" });
  const cookie = login.headers.get("set-cookie")!.split(";")[0]!;
  const redirect_uri = "https://app.example/cb";
  const query = new URLSearchParams({ response_type: "code", client_id: "app", redirect_uri, scope: "read" });
  const page = await (await send(`/oauth/authorize?${query}`, undefined, cookie)).text();
  const transaction = /name="transaction" value="([^"]+)"/.exec(page)![1]!;
  const consent = await send("/oauth/authorize", { transaction, decision: "approve" }, cookie);
  const code = new URL(consent.headers.get("location")!).searchParams.get("code")!;
  const credentials = { client_id: "app", client_secret: "secret" };
  return await (await send("/oauth/token", {
    grant_type: "authorization_code",
    code,
    redirect_uri,
    ...credentials,
  })).json();
}
