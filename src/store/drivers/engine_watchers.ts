/**
 * The watches of a driver for an engine on a network. The engine notifies the instance of commits at or below the registered
 * prefixes; where it cannot, the instance polls the version of the last commit.
 *
 * @module
 */
import { unrefTimer } from "../../timer.ts";
import { decodeKey } from "../key.ts";
import { PeriodicTasks } from "../periodic_tasks.ts";
import type { Key } from "../store.ts";
import { Watchers } from "../watchers.ts";

/** How often an instance polls for commits, and retries a registration that failed. */
const POLL_INTERVAL_MS = 500;

/** The watchers of one instance, and their registrations with the engine. */
export class EngineWatchers {
  readonly #watchers = new Watchers();
  readonly #tasks = new PeriodicTasks();
  #registered: Promise<void> | undefined;
  #isPolling = false;
  #isStopped = false;

  /**
   * Settles when every watch so far is registered; `undefined` when none is pending. Reads wait for it, so that no change is
   * missed between a read and the watch.
   */
  get registered(): Promise<void> | undefined {
    return this.#registered;
  }

  /** The prefixes that are watched. */
  get prefixes(): readonly Key[] {
    return this.#watchers.prefixes;
  }

  /** A stream of changes at or below `prefix`, which {@linkcode register} registers. */
  watch(prefix: Key): ReadableStream<readonly Key[]> {
    return this.#watchers.watch(prefix);
  }

  /** Registers something with the engine, after what was registered before. Retries while the engine is unavailable. */
  register(register: () => Promise<void>): void {
    const before = this.#registered?.catch(() => {}) ?? Promise.resolve();
    const registered: Promise<void> = before.then(register).finally(() => {
      if (this.#registered === registered) this.#registered = undefined;
    });
    registered.catch(() => this.#registerLater(register));
    this.#registered = registered;
  }

  /** What changed meanwhile is unknown. */
  #registerLater(register: () => Promise<void>): void {
    unrefTimer(setTimeout(() => {
      if (this.#isStopped) return;
      register().then(() => this.#watchers.changedAll(), () => this.#registerLater(register));
    }, POLL_INTERVAL_MS));
  }

  /**
   * Reports a notification of the engine to the watchers.
   * @param message the changed keys as JSON; `undefined` or empty when they are unknown
   */
  notify(message: string | undefined): void {
    // Registrations may stay when their watchers have left.
    if (this.#watchers.size === 0) return;
    if (!message) this.#watchers.changedAll();
    else this.#watchers.changed((JSON.parse(message) as string[]).map(decodeKey));
  }

  /**
   * Polls from now on, once however often it is called.
   * @param readVersion the version of the last commit
   * @param hasOpenCommits whether a commit of such a version is not visible yet: it is reported until it is
   */
  async poll(
    readVersion: () => Promise<string>,
    hasOpenCommits: () => Promise<boolean> = () => Promise.resolve(false),
  ): Promise<void> {
    if (this.#isPolling) return;
    let seen = await readVersion();
    let isOpen = await hasOpenCommits();
    this.#isPolling = true;
    this.every(POLL_INTERVAL_MS, async () => {
      const version = await readVersion();
      if (version === seen && !isOpen) return;
      isOpen = await hasOpenCommits();
      seen = version;
      this.#watchers.changedAll();
    });
  }

  /** Runs `work` at this interval until `stop()`. */
  every(milliseconds: number, work: () => Promise<unknown>): void {
    this.#tasks.every(milliseconds, work);
  }

  /** Ends polling, periodic work and retries. */
  stop(): void {
    this.#isStopped = true;
    this.#tasks.stop();
  }

  /** Ends all streams. */
  close(): void {
    this.#watchers.close();
  }
}
