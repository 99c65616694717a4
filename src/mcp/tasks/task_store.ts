/**
 * Tasks in the store: their records, who works on them, and what a client is shown.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import { randomId, secretDigest } from "../../crypto/secret.ts";
import { LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import { compareAndSet, type Entry, type Json, type Key, type Put, type Store } from "../../store/store.ts";
import { INTERNAL_ERROR } from "../../jsonrpc/error.ts";
import type { InputRequest } from "../input/inputs.ts";
import { type Wakeups, wakingKey } from "../session/wakeups.ts";

export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** As kept. Times are milliseconds since the epoch, lengths milliseconds. */
interface StoredTask {
  /** Whose it is: `principalKey`. */
  readonly owner: string;
  readonly principal: StoredPrincipal | undefined;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly restart: boolean;
  readonly status: TaskStatus;
  readonly statusMessage: string | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly ttl: number;
  readonly pollInterval: number;
  readonly answers: Readonly<Record<string, unknown>>;
  readonly kept: Readonly<Record<string, Json>>;
  readonly inputRequests?: Readonly<Record<string, InputRequest>> | undefined;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export interface TaskRecord extends StoredTask {
  readonly id: string;
}

type StoredPrincipal = Omit<Principal, "scopes"> & { readonly scopes: readonly string[] };

/** Who works on a task, and what is known of it. Times are milliseconds since the epoch. */
interface Lease {
  readonly by: string;
  /** Until when it surely lives. */
  readonly until: number;
  /** When it was first found silent. */
  readonly silent?: number;
}

/** Who works on a task says so this often, and is believed for so long, in milliseconds. */
const RENEW_EVERY = 5_000;
const LEASE = 15_000;
/** How long it may be silent after that: where the store itself was away, its word is on its way. */
const GRACE = 6_000;
/** No store is away for so long. */
const FOR_LONG = 60_000;

/** Ids have 43. */
const MAX_ID_CHARACTERS = 100;

/** Nothing changes it any more. */
export function isOver({ status }: TaskRecord): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

/** One whose instance is gone has failed. */
export function asGone(record: TaskRecord): TaskRecord {
  return { ...record, status: "failed", statusMessage: GONE, error: { code: INTERNAL_ERROR, message: GONE } };
}

const GONE = "The server instance that ran this task stopped. Call the tool again";

/** The principal as it was. */
export function revive(stored: StoredPrincipal | undefined): Principal | undefined {
  return stored && { ...stored, scopes: new Set(stored.scopes) };
}

/** `DetailedTask`: what `tasks/get` answers and `notifications/tasks` tells. */
export function toTask(record: TaskRecord): Record<string, unknown> {
  const { id, status, statusMessage, createdAt, updatedAt, ttl, pollInterval, result, error, inputRequests } =
    record;
  return {
    taskId: id,
    status,
    ...(statusMessage !== undefined && { statusMessage }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    ttlMs: ttl,
    pollIntervalMs: pollInterval,
    ...(status === "completed" && { result }),
    ...(status === "failed" && { error }),
    ...(status === "input_required" && { inputRequests }),
  };
}

export class TaskStore {
  readonly #store: Store;
  readonly #wakeups: Wakeups;
  readonly #now: () => number;
  readonly #me: string = randomId("");
  /** Tasks that are worked on here. */
  readonly #kept = new Set<string>();

  constructor(store: Store, wakeups: Wakeups, now: () => number) {
    this.#store = store;
    this.#wakeups = wakeups;
    this.#now = now;
  }

  /** Durable when it resolves, and held by this instance. */
  async create(record: TaskRecord): Promise<void> {
    await this.#store.commit({
      check: [{ key: taskKey(record.id), version: null }],
      set: [
        toPut(record),
        this.#lease(record),
      ],
    });
  }

  async get(id: string): Promise<TaskRecord | undefined> {
    // No id of ours: hashing it would take as long as the caller likes.
    if (id.length > MAX_ID_CHARACTERS) return undefined;
    const entry = await this.#store.get<StoredTask>(taskKey(id));
    return entry && { ...entry.value, id };
  }

  /**
   * Changes a record, whatever others change at the same time; the new one. `undefined` when there is none, or `change`
   * gives none. `hold` takes the work on in the same commit.
   * @throws {StoreUnavailableError} when others were faster at every try
   */
  async change(
    id: string,
    change: (now: TaskRecord) => TaskRecord | undefined,
    hold = false,
  ): Promise<TaskRecord | undefined> {
    return await retryLostRaces(async () => {
      const entry: Entry<StoredTask> | undefined = await this.#store.get(taskKey(id));
      const changed = entry && change({ ...entry.value, id });
      if (!changed) return undefined;
      const record = { ...changed, updatedAt: this.#now() };
      const done = await this.#store.commit({
        check: [{ key: entry.key, version: entry.version }],
        set: [toPut(record), ...(hold && record.status === "working" ? [this.#lease(record)] : [])],
      });
      return done ? record : LOST_RACE;
    });
  }

  /**
   * Whether nobody works on it any more. Who finds it silent says so; only who finds that said a while ago believes it.
   */
  async isGone(id: string): Promise<boolean> {
    if (this.#kept.has(id)) return false;
    const now = this.#now();
    const lease: Entry<Lease> | undefined = await this.#store.get(leaseKey(id));
    if (!lease) return true;
    const { until, silent } = lease.value;
    if (until >= now) return false;
    if (silent !== undefined) return now - silent >= GRACE;
    if (now - until >= FOR_LONG) return true;
    await compareAndSet(
      this.#store,
      lease.key,
      lease.version,
      { ...lease.value, silent: now },
      lease.expires,
    );
    return false;
  }

  /** Takes on the work of one that is gone: the record; `undefined` when somebody was first, or nothing is to be done. */
  async takeOver(id: string): Promise<TaskRecord | undefined> {
    const [entry, lease] = await Promise.all([
      this.#store.get<StoredTask>(taskKey(id)),
      this.#store.get<Lease>(leaseKey(id)),
    ]);
    if (entry?.value.status !== "working" || lease && lease.value.until >= this.#now()) return undefined;
    const done = await this.#store.commit({
      check: [
        { key: entry.key, version: entry.version },
        { key: leaseKey(id), version: lease?.version ?? null },
      ],
      set: [this.#lease({ ...entry.value, id })],
    });
    return done ? { ...entry.value, id } : undefined;
  }

  /**
   * Goes on working on it, and hears when it is cancelled, or another instance took it over. Gives the function that lets
   * go.
   */
  keep(record: TaskRecord, stopped: () => void): () => void {
    const { id } = record;
    const look = async (): Promise<void> => {
      const now = await this.get(id);
      if (now?.status === "cancelled") stopped();
    };
    const renew = async (): Promise<void> => {
      const lease = await this.#store.get<Lease>(leaseKey(id));
      if (lease && lease.value.by !== this.#me) return stopped();
      const check = [{ key: leaseKey(id), version: lease?.version ?? null }];
      await this.#store.commit({ check, set: [this.#lease(record)] });
    };
    this.#kept.add(id);
    const stop = this.listen(id, () => void look().catch(() => {}));
    const timer = setInterval(() => {
      // What fails is done again: in time, unless the store is away for long.
      renew().catch(() => {});
      look().catch(() => {});
    }, RENEW_EVERY);
    return () => {
      this.#kept.delete(id);
      clearInterval(timer);
      stop();
    };
  }

  /** Hears of changes. Gives the function that ends it. */
  listen(id: string, changed: () => void): () => void {
    return this.#wakeups.listen(taskKey(id).slice(1), changed);
  }

  #lease(record: TaskRecord): Put {
    const value: Lease = { by: this.#me, until: this.#now() + LEASE };
    return { key: leaseKey(record.id), value, expires: expiry(record) };
  }
}

function expiry({ createdAt, ttl }: StoredTask): number {
  return createdAt + ttl;
}

function toPut({ id, ...record }: TaskRecord): Put {
  return { key: taskKey(id), value: record satisfies StoredTask, expires: expiry(record) };
}

/** By the digest: for an anonymous caller the id is the proof that the task is theirs. */
function taskKey(id: string): Key {
  return wakingKey("task", secretDigest(id));
}

function leaseKey(id: string): Key {
  return ["mcp_task_lease", secretDigest(id)];
}
