/**
 * Tasks in the store: their records, who works on them, and what a client is shown.
 *
 * @module
 */
import type { Principal } from "../http/bearer.ts";
import { compareAndSet, type Entry, type Json, type Key, putIfAbsent, type Store } from "../store/store.ts";
import type { InputRequest } from "./inputs.ts";
import { type Wakeups, wakingKey } from "./wakeups.ts";

export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** As kept. Times are milliseconds since the epoch, lengths milliseconds. */
export interface TaskRecord {
  readonly id: string;
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

type StoredPrincipal = Omit<Principal, "scopes"> & { readonly scopes: readonly string[] };

/** Who works on a task says so this often, and is believed for so long, in milliseconds. */
const RENEW_EVERY = 7_000;
const LEASE = 20_000;

/** Nothing changes it any more. */
export function isOver({ status }: TaskRecord): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

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
        { key: taskKey(record.id), value: record, expires: expiry(record) },
        { key: leaseKey(record.id), value: true, expires: this.#now() + LEASE },
      ],
    });
  }

  async get(id: string): Promise<TaskRecord | undefined> {
    return (await this.#store.get<TaskRecord>(taskKey(id)))?.value;
  }

  /**
   * Changes a record, whatever others change at the same time; the new one. `undefined` when there is none, or `change`
   * gives none. `hold` takes the work on in the same commit.
   */
  async change(
    id: string,
    change: (now: TaskRecord) => TaskRecord | undefined,
    hold = false,
  ): Promise<TaskRecord | undefined> {
    for (;;) {
      const entry: Entry<TaskRecord> | undefined = await this.#store.get(taskKey(id));
      const changed = entry && change(entry.value);
      if (!changed) return undefined;
      const value = { ...changed, updatedAt: this.#now() };
      const done = hold && value.status === "working"
        ? await this.#store.commit({
          check: [{ key: entry.key, version: entry.version }],
          set: [
            { key: entry.key, value, expires: expiry(value) },
            { key: leaseKey(id), value: true, expires: this.#now() + LEASE },
          ],
        })
        : await compareAndSet(this.#store, entry.key, entry.version, value, expiry(value));
      if (done) return value;
    }
  }

  /** Whether somebody works on it. */
  async isHeld(id: string): Promise<boolean> {
    return await this.#store.get(leaseKey(id)) !== undefined;
  }

  /** Takes the work on; `false` when somebody was first. */
  hold(id: string): Promise<boolean> {
    return putIfAbsent(this.#store, leaseKey(id), true, this.#now() + LEASE);
  }

  /** Goes on holding it, and hears when it is cancelled. Gives the function that lets go. */
  keep(id: string, cancelled: () => void): () => void {
    const look = async (): Promise<void> => {
      const record = await this.get(id).catch(() => undefined);
      if (record?.status === "cancelled") cancelled();
    };
    const stop = this.listen(id, look);
    const timer = setInterval(() => {
      this.#store.commit({ set: [{ key: leaseKey(id), value: true, expires: this.#now() + LEASE }] }).catch(
        () => {},
      );
      look();
    }, RENEW_EVERY);
    return () => {
      clearInterval(timer);
      stop();
    };
  }

  /** Hears of changes. Gives the function that ends it. */
  listen(id: string, changed: () => void): () => void {
    return this.#wakeups.listen(["task", id], changed);
  }
}

function expiry({ createdAt, ttl }: TaskRecord): number {
  return createdAt + ttl;
}

function taskKey(id: string): Key {
  return wakingKey("task", id);
}

function leaseKey(id: string): Key {
  return ["mcp_task_lease", id];
}
