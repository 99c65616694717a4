/**
 * Change notifications of a session: lists, and the resources that it subscribed to.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import { StoreUnavailableError } from "../../store/store.ts";
import { unrefTimer } from "../../timer.ts";
import { type Changes, isFor, type LoggedChange } from "../definition/changes.ts";
import { type Session, settingsTopic } from "./session.ts";
import { digestOf, RENEW_SUBSCRIPTIONS_MS, type Subscriptions } from "./session_subscriptions.ts";
import type { Caller } from "./storage_limits.ts";
import type { Wakeups } from "./wakeups.ts";

export interface SessionChangesOptions {
  readonly changes: Changes;
  readonly subscriptions: Subscriptions;
  readonly wakeups: Wakeups;
  readonly onSubscribed?: OnSubscribed | undefined;
}

/** Called with the resources whose updates a stream of the caller sends, at its start, after changes, and every half hour. */
export type OnSubscribed = (uris: ReadonlySet<string>, caller: Principal | undefined) => void;

export const REPEAT_SUBSCRIBED_MS: number = 30 * 60_000;
/** How long a stream waits before it reads its subscriptions again, after the store was unavailable. */
const RETRY_MS = 500;

const NONE: ReadonlySet<string> = new Set();

/**
 * Calls `onChange` for each list change and each change of a subscribed resource, once and in order, from a position in the log
 * or from now on. Changes wait for subscriptions that were answered before them, and for `settled`. While it runs, the
 * session's subscriptions are renewed on behalf of `caller`. Returns the function that ends it.
 */
export function watchSessionChanges(
  options: SessionChangesOptions,
  session: Session,
  caller: Caller,
  onChange: (change: LoggedChange) => void,
  { position, settled }: { readonly position?: string; readonly settled?: () => Promise<unknown> } = {},
): () => void {
  const watch = new ChangeWatch(options, session, caller, onChange, settled);
  watch.start(position);
  return () => watch.stop();
}

/** An object, not closures: thousands of idle streams have one each. */
class ChangeWatch {
  readonly #options: SessionChangesOptions;
  readonly #session: Session;
  readonly #caller: Caller;
  readonly #onChange: (change: LoggedChange) => void;
  readonly #settled: (() => Promise<unknown>) | undefined;
  /** Subscribed URIs by digest; `undefined` when they must be read again. */
  #known: Map<string, string> | undefined;
  #uris = NONE;
  /** Each step waits for the steps before it, so that a subscription is known before a later change. */
  #steps: Promise<unknown> = Promise.resolve();
  /** Whether a step that reads all subscriptions has not begun. */
  #isWaiting = false;
  #isOver = false;
  #renewing: ReturnType<typeof setInterval> | undefined;
  #repeating: ReturnType<typeof setInterval> | undefined;
  #stopListening: (() => void) | undefined;
  #stopChanges: (() => void) | undefined;

  constructor(
    options: SessionChangesOptions,
    session: Session,
    caller: Caller,
    onChange: (change: LoggedChange) => void,
    settled: (() => Promise<unknown>) | undefined,
  ) {
    this.#options = options;
    this.#session = session;
    this.#caller = caller;
    this.#onChange = onChange;
    this.#settled = settled;
  }

  start(position: string | undefined): void {
    const { wakeups, changes, onSubscribed } = this.#options;
    this.#reload();
    if (onSubscribed) {
      this.#repeating = setInterval(
        () => this.#uris.size > 0 && onSubscribed(this.#uris, this.#caller.principal),
        REPEAT_SUBSCRIBED_MS,
      );
    }
    this.#stopListening = wakeups.listen(settingsTopic(this.#session), (key) => {
      // The settings record itself does not contain the subscribed URIs.
      if (!key || digestOf(key) !== undefined) this.#reload(key && digestOf(key));
    });
    this.#stopChanges = changes.listen((logged) => this.#pass(logged), position);
  }

  stop(): void {
    this.#isOver = true;
    clearInterval(this.#repeating);
    clearInterval(this.#renewing);
    this.#stopListening?.();
    this.#stopChanges?.();
  }

  #then(step: () => unknown): void {
    this.#steps = this.#steps.then(step).catch(() => {});
  }

  #reload(digest?: string): void {
    // One that waits to read all will find this change.
    if (this.#isWaiting) return;
    this.#isWaiting = digest === undefined;
    this.#then(() => {
      if (digest === undefined) this.#isWaiting = false;
      return this.#loadWhenAvailable(digest);
    });
  }

  /** Nothing else may cause another read, so that the subscriptions are read until the store answers. */
  async #loadWhenAvailable(digest: string | undefined): Promise<void> {
    while (!this.#isOver) {
      try {
        return await this.#load(digest);
      } catch (error) {
        // The next read reads all.
        this.#known = undefined;
        if (!(error instanceof StoreUnavailableError)) return;
      }
      await new Promise<void>((resolve) => unrefTimer(setTimeout(resolve, RETRY_MS)));
    }
  }

  async #load(digest: string | undefined): Promise<void> {
    const { subscriptions, onSubscribed } = this.#options;
    if (digest === undefined || !this.#known) {
      this.#known = await subscriptions.use(this.#session, this.#caller);
    } else {
      const uri = await subscriptions.useOne(this.#session, digest, this.#caller);
      if (uri === undefined) this.#known.delete(digest);
      else this.#known.set(digest, uri);
    }
    this.#uris = this.#known.size > 0 ? new Set(this.#known.values()) : NONE;
    if (this.#known.size === 0) return void (this.#known = undefined);
    onSubscribed?.(this.#uris, this.#caller.principal);
    // Subscriptions of other callers live as long as their session.
    if (this.#session.principal === "" && !this.#isOver) {
      this.#renewing ??= setInterval(() => this.#reload(), RENEW_SUBSCRIPTIONS_MS);
    }
  }

  #pass(logged: LoggedChange): void {
    const { change } = logged;
    if (this.#options.wakeups.isBehind) this.#reload();
    const isSettled = this.#settled?.();
    this.#then(() => isSettled);
    this.#then(() => {
      if (this.#isOver || change.kind === "resource" && !this.#uris.has(change.uri)) return;
      if (!isFor(change, this.#caller.principal)) return;
      this.#onChange(logged);
    });
  }
}
