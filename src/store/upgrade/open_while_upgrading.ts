/**
 * Opens a store for services while its records are upgraded. What they read has the current form: a record of an earlier
 * form is upgraded when it is read. Of kinds whose records a step still adds, reads wait.
 *
 * A store that is current is returned as it is, so nothing costs anything then.
 *
 * @module
 */
import { checkNames, type Names } from "../../options/option_check.ts";
import { LOST_RACE, retryLostRaces } from "../retry.ts";
import { type Entry, type Key, type ListOptions, type Store, StoreUnavailableError } from "../store.ts";
import {
  beginUpgrade,
  isCurrent,
  type KindProgress,
  readFormat,
  retryWhileDown,
  toCommit,
  type UpgradeOptions,
  upgradeStore,
} from "./run_upgrade.ts";
import { findSteps, type UpgradeStep } from "./upgrade_steps.ts";

/** How a store is opened during an upgrade. */
export interface OpenWhileUpgradingOptions extends Pick<UpgradeOptions, "onProgress" | "onKind"> {
  /** Called when the upgrade of all kinds is done, or has failed. */
  readonly onEnd?: (result: readonly KindProgress[] | { readonly error: unknown }) => void;
  /** Whether this instance also does the upgrade, or only reads beside one that does. @default true */
  readonly upgrade?: boolean;
}

const NAMES: Names<OpenWhileUpgradingOptions> = {
  onProgress: "function",
  onKind: "function",
  onEnd: "function",
  upgrade: "boolean",
};

/** How long a read waits for the upgrade of a kind, before it is a 503. */
const MAX_WAIT_MS = 3000;
const POLL_INTERVAL_MS = 50;

/**
 * Opens a store, which was opened with `allowOlder`, for services, and upgrades it in the background. Resolves before the
 * upgrade ends; `close()` stops it, and it goes on when the store is opened again.
 * @throws {StoreFormatError} for a newer store, and for records that cannot be upgraded; nothing was changed then
 * @throws {TypeError} for an option that does not exist
 */
export async function openWhileUpgrading(
  store: Store,
  options: OpenWhileUpgradingOptions = {},
): Promise<Store> {
  checkNames("openWhileUpgrading", options, NAMES);
  const opened = new UpgradingStore(store, options);
  try {
    if (await opened.prepare() === "current") return store;
  } catch (error) {
    // The engine may be available later: the first call tries again.
    if (!(error instanceof StoreUnavailableError)) throw error;
  }
  opened.start();
  return opened;
}

class UpgradingStore implements Store {
  #store: Store;
  #options: OpenWhileUpgradingOptions;
  /** The steps of kinds that may have records of an earlier form; `undefined` until the format was read. */
  #steps: readonly UpgradeStep[] | undefined;
  #stopping = new AbortController();
  #running: Promise<void> | undefined;
  now?: () => number;

  constructor(store: Store, options: OpenWhileUpgradingOptions) {
    this.#store = store;
    this.#options = options;
    if (store.now) this.now = () => store.now!();
  }

  get guarantees(): Store["guarantees"] {
    return this.#store.guarantees;
  }

  /** Reads the format, and marks the store before the first record is changed. */
  async prepare(): Promise<"current" | "upgrading"> {
    const { format } = await readFormat(this.#store);
    const steps = findSteps(format);
    if (this.#options.upgrade !== false && !isCurrent(format)) await beginUpgrade(this.#store, steps);
    this.#steps = steps;
    return steps.length === 0 ? "current" : "upgrading";
  }

  /** Upgrades in the background. */
  start(): void {
    if (this.#options.upgrade === false) return;
    const { onEnd, onKind, onProgress } = this.#options;
    const { signal } = this.#stopping;
    const upgrade = () =>
      upgradeStore(this.#store, {
        ...(onProgress && { onProgress }),
        signal,
        onKind: (progress) => {
          this.#steps = this.#steps?.filter(({ kind }) => kind !== progress.kind);
          onKind?.(progress);
        },
      });
    this.#running = retryWhileDown(upgrade, signal).then(
      (done) => {
        if (!done || signal.aborted) return;
        this.#steps = [];
        onEnd?.(done);
      },
      (error) => onEnd?.({ error }),
    );
  }

  async get<Value = unknown>(
    key: Key,
    options?: Parameters<Store["get"]>[1],
  ): Promise<Entry<Value> | undefined> {
    const steps = this.#steps?.length === 0 ? undefined : await this.#stepsFor(key);
    if (!steps) return await this.#store.get<Value>(key, options);
    return await this.#upgraded(async () => {
      const entry = await this.#store.get<Value>(key, options);
      return { entries: entry ? [entry] : [], result: entry };
    }, steps);
  }

  async list<Value = unknown>(prefix: Key, options?: ListOptions): Promise<Entry<Value>[]> {
    const steps = this.#steps?.length === 0 ? undefined : await this.#stepsFor(prefix);
    if (!steps) return await this.#store.list<Value>(prefix, options);
    return await this.#upgraded(async () => {
      const entries = await this.#store.list<Value>(prefix, options);
      return { entries, result: entries };
    }, steps);
  }

  async commit(commit: Parameters<Store["commit"]>[0]): Promise<boolean> {
    return await this.#store.commit(commit);
  }

  watch(prefix: Key): ReturnType<Store["watch"]> {
    return this.#store.watch(prefix);
  }

  async sweep(): Promise<number> {
    return await this.#store.sweep();
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    await this.#store.close();
  }

  /** The steps for a kind (all for the empty prefix), once the records that steps add to it are there. */
  async #stepsFor([kind]: Key): Promise<readonly UpgradeStep[] | undefined> {
    if (this.#steps === undefined) await this.prepare();
    for (const until = performance.now() + MAX_WAIT_MS; this.#isIncomplete(kind);) {
      if (performance.now() > until) {
        throw new StoreUnavailableError(`The store is being upgraded: "${kind}" records are incomplete`, {
          retryAfter: 5,
        });
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
      // Without an upgrade here, another instance does it.
      if (!this.#running) this.#steps = findSteps((await readFormat(this.#store)).format);
    }
    const steps = this.#steps!.filter((step) => kind === undefined || step.kind === kind);
    return steps.length === 0 ? undefined : steps;
  }

  #isIncomplete(kind: Key[number] | undefined): boolean {
    return this.#steps!.some(({ adds = [] }) => adds.some((added) => kind === undefined || added === kind));
  }

  /** Reads until all records have the current form, and upgrades those that do not. */
  #upgraded<Result>(
    read: () => Promise<{ readonly entries: readonly Entry[]; readonly result: Result }>,
    steps: readonly UpgradeStep[],
  ): Promise<Result> {
    return retryLostRaces(async () => {
      const { entries, result } = await read();
      const { commit } = toCommit(entries, steps);
      if (commit.check!.length === 0) return result;
      await this.#store.commit(commit);
      return LOST_RACE;
    });
  }
}
