/**
 * What a session of the revisions with a handshake hears of changes: lists, and the resources that it subscribed to.
 *
 * @module
 */
import type { Changes, PlacedChange } from "./changes.ts";
import { type Session, type Sessions, settingsTopic } from "./session.ts";
import type { Wakeups } from "./wakeups.ts";

export interface SessionChangesOptions {
  readonly changes: Changes;
  readonly sessions: Sessions;
  readonly wakeups: Wakeups;
}

/**
 * Tells the changes that the session wants to hear of, from a place in the log or from now on, each once and in order.
 * A subscription that was answered before a change counts for it; so does what `settled` waits for when word of the
 * change comes. Gives the function that ends it.
 */
export function hearChanges(
  { changes, sessions, wakeups }: SessionChangesOptions,
  session: Session,
  tell: (change: PlacedChange) => void,
  { place, settled }: { readonly place?: string; readonly settled?: () => Promise<unknown> } = {},
): () => void {
  let uris: ReadonlySet<string> = new Set();
  let isOver = false;
  // Each step waits for those before it: word of a subscription comes before word of a later change.
  let steps: Promise<unknown> = Promise.resolve();
  const then = (step: () => unknown): void => void (steps = steps.then(step).catch(() => {}));
  const load = async (): Promise<void> => {
    // A store that fails for a moment changes nothing.
    const settings = await sessions.settings(session).catch(() => undefined);
    if (settings) uris = new Set(settings.subscriptions);
  };
  then(load);
  const stops = [
    wakeups.listen(settingsTopic(session), () => then(load)),
    changes.listen((placed) => {
      const { change } = placed;
      const known = settled?.();
      then(() => known);
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
