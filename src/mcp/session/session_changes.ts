/**
 * What a session of the revisions with a handshake hears of changes: lists, and the resources that it subscribed to.
 *
 * @module
 */
import type { Changes, PlacedChange } from "../definition/changes.ts";
import { type Session, settingsTopic } from "./session.ts";
import { digestOf, RENEW_SUBSCRIPTIONS_MS, type Subscriptions } from "./session_subscriptions.ts";
import type { Storing } from "./storage_limits.ts";
import type { Wakeups } from "./wakeups.ts";

export interface SessionChangesOptions {
  readonly changes: Changes;
  readonly subscriptions: Subscriptions;
  readonly wakeups: Wakeups;
}

const NONE: ReadonlySet<string> = new Set();

/**
 * Tells the changes that the session wants to hear of, from a place in the log or from now on, each once and in order.
 * A subscription that was answered before a change counts for it; so does what `settled` waits for when word of the
 * change comes. `storing` is for whom the session's subscriptions are kept on meanwhile. Gives the function that ends it.
 */
export function hearChanges(
  { changes, subscriptions, wakeups }: SessionChangesOptions,
  session: Session,
  storing: Storing,
  tell: (change: PlacedChange) => void,
  { place, settled }: { readonly place?: string; readonly settled?: () => Promise<unknown> } = {},
): () => void {
  /** By their digests; `undefined` when they must be read. */
  let known: Map<string, string> | undefined;
  let uris = NONE;
  let timer: ReturnType<typeof setInterval> | undefined;
  let isOver = false;
  // Each step waits for those before it: word of a subscription comes before word of a later change.
  let steps: Promise<unknown> = Promise.resolve();
  const then = (step: () => unknown): void => void (steps = steps.then(step).catch(() => {}));
  const load = async (digest?: string): Promise<void> => {
    if (digest === undefined || !known) known = await subscriptions.use(session, storing);
    else {
      const uri = await subscriptions.useOne(session, digest, storing);
      if (uri === undefined) known.delete(digest);
      else known.set(digest, uri);
    }
    uris = known.size > 0 ? new Set(known.values()) : NONE;
    // Those of others live as long as their session.
    if (known.size > 0 && session.principal === "" && !isOver) {
      timer ??= setInterval(() => look(), RENEW_SUBSCRIPTIONS_MS);
    }
  };
  // A store that fails for a moment changes nothing; the next look reads all.
  const look = (digest?: string): void => then(() => load(digest).catch(() => void (known = undefined)));
  look();
  const stops = [
    () => clearInterval(timer),
    wakeups.listen(settingsTopic(session), (key) => {
      // The settings themselves say nothing of which subscriptions there are.
      if (!key || digestOf(key) !== undefined) look(key && digestOf(key));
    }),
    changes.listen((placed) => {
      const { change } = placed;
      const isSettled = settled?.();
      then(() => isSettled);
      then(() => {
        if (!isOver && (change.kind !== "resource" || uris.has(change.uri))) tell(placed);
      });
    }, place),
  ];
  return () => {
    isOver = true;
    for (const stop of stops) stop();
  };
}
