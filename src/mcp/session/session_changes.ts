/**
 * Change notifications of a session: lists, and the resources that it subscribed to.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import { StoreUnavailableError } from "../../store/store.ts";
import { unrefTimer } from "../../timer.ts";
import { type Change, type Changes, isFor, type LoggedChange } from "../definition/changes.ts";
import type { Offers } from "../definition/registry.ts";
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

const LISTS = ["tools", "resources", "prompts"] as const;
const NONE: ReadonlySet<string> = new Set();

/** What a stream missed: changes since a position have expired. */
interface Gap extends Pick<Offers, "offers"> {
  readonly position: string;
}

export interface WatchFrom {
  /** @default the end of the log */
  readonly position?: string;
  readonly settled?: () => Promise<unknown>;
  /** Called with the positions of changes that are not for the session, in order with the others. */
  readonly onSkipped?: ((position: string) => void) | undefined;
  /** Ends at `position`. All lists that are offered, and all subscribed resources, count as changed. */
  readonly gap?: Gap | undefined;
}

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
  { position, settled, onSkipped, gap }: WatchFrom = {},
): () => void {
  const watch = new ChangeWatch(options, session, caller, onChange, settled, onSkipped);
  watch.start(position, gap);
  return () => watch.stop();
}

/** An object, not closures: thousands of idle streams have one each. */
class ChangeWatch {
  readonly #options: SessionChangesOptions;
  readonly #session: Session;
  readonly #caller: Caller;
  readonly #onChange: (change: LoggedChange) => void;
  readonly #settled: (() => Promise<unknown>) | undefined;
  readonly #onSkipped: ((position: string) => void) | undefined;
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
    onSkipped: ((position: string) => void) | undefined,
  ) {
    this.#options = options;
    this.#session = session;
    this.#caller = caller;
    this.#onChange = onChange;
    this.#settled = settled;
    this.#onSkipped = onSkipped;
  }

  start(position: string | undefined, gap: Gap | undefined): void {
    const { wakeups, changes, onSubscribed } = this.#options;
    this.#reload();
    if (gap) this.#then(() => this.#passGap(gap, position!));
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

  /** A client that gets only a part resumes before the gap. */
  #passGap({ offers, position }: Gap, end: string): void {
    const changes: Change[] = LISTS.filter((kind) => offers[kind]).map((kind) => ({ kind }));
    for (const uri of this.#uris) changes.push({ kind: "resource", uri });
    for (const [i, change] of changes.entries()) {
      if (!this.#isOver) this.#onChange({ change, position: i === changes.length - 1 ? end : position });
    }
  }

  #pass(logged: LoggedChange): void {
    const { change } = logged;
    if (this.#options.wakeups.isBehind) this.#reload();
    const isSettled = this.#settled?.();
    this.#then(() => isSettled);
    this.#then(() => {
      if (this.#isOver) return;
      const isOwn = (change.kind !== "resource" || this.#uris.has(change.uri)) &&
        isFor(change, this.#caller.principal);
      if (isOwn) this.#onChange(logged);
      else this.#onSkipped?.(logged.position);
    });
  }
}
