/**
 * Tasks in the store: their records, the leases of the instances that run them, and `DetailedTask` for clients.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import { randomId, secretDigest } from "../../crypto/secret.ts";
import { LOST_RACE, MAX_STORE_OUTAGE_MS, retryLostRaces, retryWhileUnavailable } from "../../store/retry.ts";
import {
  compareAndSet,
  type Entry,
  type Json,
  type Key,
  type Put,
  type Store,
  StoreUnavailableError,
} from "../../store/store.ts";
import { INTERNAL_ERROR } from "../../jsonrpc/error.ts";
import type { InputRequest } from "../input/inputs.ts";
import { LEASE_GRACE_MS, LEASE_MS, LEASE_RENEWAL_MS } from "../lease.ts";
import { type Wakeups, watchedKey } from "../session/wakeups.ts";

export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** The stored record. Times are milliseconds since the epoch, durations are milliseconds. */
interface StoredTask {
  /** The `principalKey` of the caller that created the task. */
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

/** Which instance runs a task. Times are milliseconds since the epoch. */
interface Lease {
  readonly by: string;
  /** End of the lease. */
  readonly until: number;
  /** When another instance first found the lease expired. */
  readonly silent?: number;
}

/** Ids have 43 characters. */
const MAX_ID_CHARACTERS = 100;

/** Whether the status is terminal: the record does not change any more. */
export function isTerminal({ status }: TaskRecord): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

const INSTANCE_STOPPED = "The server instance that ran this task stopped. Call the tool again";

/** The record of a task whose instance stopped. */
export function toFailed(record: TaskRecord): TaskRecord {
  return {
    ...record,
    status: "failed",
    statusMessage: INSTANCE_STOPPED,
    error: { code: INTERNAL_ERROR, message: INSTANCE_STOPPED },
  };
}

/** The principal of a stored one. */
export function toPrincipal(stored: StoredPrincipal | undefined): Principal | undefined {
  return stored && { ...stored, scopes: new Set(stored.scopes) };
}

/** `DetailedTask`: the result of `tasks/get` and the content of `notifications/tasks`. */
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
  /** Made by the first lease, so that a start does not load the generator. */
  #instance: string | undefined;
  /** Ids of the tasks that run on this instance. */
  readonly #running = new Set<string>();

  constructor(store: Store, wakeups: Wakeups, now: () => number) {
    this.#store = store;
    this.#wakeups = wakeups;
    this.#now = now;
  }

  /** Stores the record and the lease of this instance in one commit. */
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
    // Longer ids are not ours, and hashing them would take unbounded time.
    if (id.length > MAX_ID_CHARACTERS) return undefined;
    const entry = await this.#store.get<StoredTask>(taskKey(id));
    return entry && { ...entry.value, id };
  }

  /**
   * Changes a record, with retries when other instances change it at the same time, and returns the new record;
   * `undefined` when the task is unknown or `change` returns `undefined`. `hold` takes the lease in the same commit, unless
   * the task waits for input: the caller then runs the tool, which no other call would do.
   * @throws {StoreUnavailableError} when every retry lost the race
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
      const takesLease = hold && record.status !== "input_required";
      const done = await this.#store.commit({
        check: [{ key: entry.key, version: entry.version }],
        set: [toPut(record), ...(takesLease ? [this.#lease(record)] : [])],
      }).catch(async (error) => {
        // It may be done: only its response was lost.
        if (!takesLease || !(error instanceof StoreUnavailableError)) throw error;
        if (await retryWhileUnavailable(() => this.#isHeld(record))) return true;
        throw error;
      });
      return done ? record : LOST_RACE;
    });
  }

  /** Whether this version of the record is stored, with the lease of this instance. */
  async #isHeld({ id, status, updatedAt }: TaskRecord): Promise<boolean> {
    const lease = await this.#store.get<Lease>(leaseKey(id));
    const now = await this.get(id);
    return lease?.value.by === this.#instance && now?.status === status && now.updatedAt === updatedAt;
  }

  /**
   * Whether no instance runs the task any more. The first call that finds the lease expired marks it; the task counts as
   * abandoned when the mark is older than the grace period.
   */
  async isAbandoned(id: string): Promise<boolean> {
    if (this.#running.has(id)) return false;
    const now = this.#now();
    const lease: Entry<Lease> | undefined = await this.#store.get(leaseKey(id));
    if (!lease) return true;
    const { until, silent } = lease.value;
    if (until >= now) return false;
    if (silent !== undefined) return now - silent >= LEASE_GRACE_MS;
    if (now - until >= MAX_STORE_OUTAGE_MS) return true;
    await compareAndSet(
      this.#store,
      lease.key,
      lease.version,
      { ...lease.value, silent: now },
      lease.expires,
    );
    return false;
  }

  /** Takes the expired lease of a working task; `undefined` when another instance has it, or the task is not working. */
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
   * Renews the lease, and calls `onStop` when the task is cancelled or another instance took it over. Returns the function
   * that stops the renewal.
   */
  holdLease(record: TaskRecord, onStop: () => void): () => void {
    const { id } = record;
    const checkStatus = async (): Promise<void> => {
      const now = await this.get(id);
      if (now?.status === "cancelled") onStop();
    };
    const renew = async (): Promise<void> => {
      const lease = await this.#store.get<Lease>(leaseKey(id));
      if (lease && lease.value.by !== this.#instance) return onStop();
      const check = [{ key: leaseKey(id), version: lease?.version ?? null }];
      await this.#store.commit({ check, set: [this.#lease(record)] });
    };
    this.#running.add(id);
    const stop = this.listen(id, () => void checkStatus().catch(() => {}));
    const timer = setInterval(() => {
      // A failure is retried with the next interval, before the lease ends unless the outage of the store is long.
      renew().catch(() => {});
      checkStatus().catch(() => {});
    }, LEASE_RENEWAL_MS);
    return () => {
      this.#running.delete(id);
      clearInterval(timer);
      stop();
    };
  }

  /** Calls `onChange` when the record may have changed. Returns the function that ends this. */
  listen(id: string, onChange: () => void): () => void {
    return this.#wakeups.listen(taskKey(id).slice(1), onChange);
  }

  #lease(record: TaskRecord): Put {
    const value: Lease = { by: this.#instance ??= randomId(""), until: this.#now() + LEASE_MS };
    return { key: leaseKey(record.id), value, expires: expiry(record) };
  }
}

function expiry({ createdAt, ttl }: StoredTask): number {
  return createdAt + ttl;
}

function toPut({ id, ...record }: TaskRecord): Put {
  return { key: taskKey(id), value: record satisfies StoredTask, expires: expiry(record) };
}

/** By the digest of the id, because the id is a secret: it proves that an anonymous caller owns the task. */
function taskKey(id: string): Key {
  return watchedKey("task", secretDigest(id));
}

function leaseKey(id: string): Key {
  return ["mcp_task_lease", secretDigest(id)];
}
