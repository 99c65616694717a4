/**
 * Test kit of this folder: discovery on a memory store and a local folder in memory, with a Skills service for uploads.
 *
 * @module
 */
import type { TrivetEvent } from "../../events.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import type { Key, Store } from "../../store/store.ts";
import { createLedger } from "../blobs/blob_ledger.ts";
import { openDirectory } from "../local/directory.ts";
import { createDiscovery, type Discovery } from "./discovery.ts";
import { folderOf, newService, type TestFile, type TestService } from "../test_service.ts";

export interface TestDiscovery {
  readonly discovery: Discovery;
  readonly server: TestService;
  readonly events: TrivetEvent[];
  /** The files of the local folder: change them, then call `advance(1000)`. */
  readonly local: Map<string, string>;
  advance(milliseconds: number): void;
  get(path: string, init?: RequestInit): Promise<Response>;
  /** The JSON of an index. */
  index(place?: "agent-skills" | "skills"): Promise<{ $schema?: string; skills: IndexEntry[] }>;
  /** The id of the new skill. */
  upload(files: readonly TestFile[], key?: string): Promise<string>;
}

export interface IndexEntry {
  readonly name: string;
  readonly description: string;
  readonly type?: string;
  readonly url?: string;
  readonly digest?: string;
  readonly files?: readonly string[];
}

const encoder = new TextEncoder();

export const skillMd = (name: string, description = "Does it.", more = ""): string =>
  `---\nname: ${name}\ndescription: ${description}\n${more}---\nText of ${name}\n`;

export async function newDiscovery(
  { files = {}, base = "", local: isLocalPublic = true, workspaces = [], store, onRead = () => {} }: {
    readonly files?: Readonly<Record<string, string>>;
    readonly base?: string;
    /** Whether local skills are public. */
    readonly local?: boolean;
    readonly workspaces?: readonly string[];
    readonly store?: Store;
    /** Called before discovery reads at or below a key; the store throws what it throws. */
    readonly onRead?: (key: Key) => void;
  } = {},
): Promise<TestDiscovery> {
  const start = Date.now();
  let offset = 0;
  // A clock that stands: how long a scan of a folder took decides when the next one may start.
  const now = (): number => start + offset;
  const whole = store ?? memoryStore({ now });
  const server = await newService({ store: whole, now });
  const watched = watchReads(whole, onRead);
  const local = new Map(Object.entries(files));
  const folder = {
    ...folderOf(local),
    // Every listed name, unchanged.
    read: (path: string) => Promise.resolve(local.has(path) ? encoder.encode(local.get(path)) : undefined),
  };
  const events: TrivetEvent[] = [];
  const discovery = createDiscovery({
    base,
    store: watched,
    ledger: createLedger(watched, now),
    directory: openDirectory([folder], now),
    local: isLocalPublic,
    workspaces,
    observe: (event) => void events.push(event),
    now,
  });
  const test: TestDiscovery = {
    discovery,
    server,
    events,
    local,
    advance: (milliseconds) => void (offset += milliseconds),
    get: (path, init) => discovery.fetch(new Request("http://127.0.0.1" + path, init)),
    async index(place = "agent-skills") {
      return await (await test.get(`${base}/.well-known/${place}/index.json`)).json();
    },
    async upload(files, key) {
      // Ids are ordered by their milliseconds.
      offset += 1;
      const response = await server.upload(files, {}, key);
      const { id, error } = await response.json();
      if (!response.ok) throw new Error(error.message);
      return id;
    },
  };
  return test;
}

function watchReads(store: Store, onRead: (key: Key) => void): Store {
  return {
    guarantees: store.guarantees,
    async get(key, options) {
      onRead(key);
      return await store.get(key, options);
    },
    async list(prefix, options) {
      onRead(prefix);
      return await store.list(prefix, options);
    },
    commit: (commit) => store.commit(commit),
    watch: (prefix) => store.watch(prefix),
    sweep: () => store.sweep(),
    close: () => store.close(),
  };
}
