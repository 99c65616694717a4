/**
 * Change notifications of a session: lists, and the resources that it subscribed to.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import type { Changes, LoggedChange } from "../definition/changes.ts";
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

const NONE: ReadonlySet<string> = new Set();

/**
 * Calls `onChange` for each list change and each change of a subscribed resource, once and in order, from a position in the log
 * or from now on. Changes wait for subscriptions that were answered before them, and for `settled`. While it runs, the
 * session's subscriptions are renewed on behalf of `caller`. Returns the function that ends it.
 */
export function watchSessionChanges(
  { changes, subscriptions, wakeups, onSubscribed }: SessionChangesOptions,
  session: Session,
  caller: Caller,
  onChange: (change: LoggedChange) => void,
  { position, settled }: { readonly position?: string; readonly settled?: () => Promise<unknown> } = {},
): () => void {
  /** Subscribed URIs by digest; `undefined` when they must be read again. */
  let known: Map<string, string> | undefined;
  let uris = NONE;
  let timer: ReturnType<typeof setInterval> | undefined;
  let isOver = false;
  // Each step waits for the steps before it, so that a subscription is known before a later change.
  let steps: Promise<unknown> = Promise.resolve();
  const then = (step: () => unknown): void => void (steps = steps.then(step).catch(() => {}));
  const load = async (digest?: string): Promise<void> => {
    if (digest === undefined || !known) known = await subscriptions.use(session, caller);
    else {
      const uri = await subscriptions.useOne(session, digest, caller);
      if (uri === undefined) known.delete(digest);
      else known.set(digest, uri);
    }
    uris = known.size > 0 ? new Set(known.values()) : NONE;
    if (uris.size > 0) onSubscribed?.(uris, caller.principal);
    // Subscriptions of other callers live as long as their session.
    if (known.size > 0 && session.principal === "" && !isOver) {
      timer ??= setInterval(() => reload(), RENEW_SUBSCRIPTIONS_MS);
    }
  };
  // While the store is unavailable nothing changes; the next read reads all.
  const reload = (digest?: string): void => then(() => load(digest).catch(() => void (known = undefined)));
  reload();
  const repeating = onSubscribed && setInterval(
    () => uris.size > 0 && onSubscribed(uris, caller.principal),
    REPEAT_SUBSCRIBED_MS,
  );
  const stops = [
    () => clearInterval(repeating),
    () => clearInterval(timer),
    wakeups.listen(settingsTopic(session), (key) => {
      // The settings record itself does not contain the subscribed URIs.
      if (!key || digestOf(key) !== undefined) reload(key && digestOf(key));
    }),
    changes.listen((logged) => {
      const { change } = logged;
      const isSettled = settled?.();
      then(() => isSettled);
      then(() => {
        if (!isOver && (change.kind !== "resource" || uris.has(change.uri))) onChange(logged);
      });
    }, position),
  ];
  return () => {
    isOver = true;
    for (const stop of stops) stop();
  };
}
