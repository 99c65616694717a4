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

export interface SessionChanges {
  /** Resolves when what was missed was told; rejects when it cannot be found out. */
  readonly told: Promise<void>;
  stop(): void;
}

/**
 * Tells the changes that the session wants to hear of, from now on and in their order; first those that `missed` finds.
 * A subscription that was answered before a change counts for it.
 */
export function hearChanges(
  { changes, sessions, wakeups }: SessionChangesOptions,
  session: Session,
  tell: (change: PlacedChange) => void,
  missed: () => Promise<readonly PlacedChange[]> = () => Promise.resolve([]),
): SessionChanges {
  let uris: ReadonlySet<string> = new Set();
  // Each step waits for those before it: word of a subscription comes before word of a later change.
  let steps: Promise<void> = Promise.resolve();
  const then = (step: () => void | Promise<void>): void => void (steps = steps.then(step).catch(() => {}));
  const load = async (): Promise<void> => {
    // A store that fails for a moment changes nothing.
    const settings = await sessions.settings(session).catch(() => undefined);
    if (settings) uris = new Set(settings.subscriptions);
  };
  const tellWanted = (placed: PlacedChange): void => {
    const { change } = placed;
    if (change.kind !== "resource" || uris.has(change.uri)) tell(placed);
  };
  const before = new Set<string>();
  const stops = [
    changes.listen((placed) => then(() => before.has(placed.place) ? undefined : tellWanted(placed))),
    wakeups.listen(settingsTopic(session), () => then(load)),
  ];
  then(load);
  const told = steps.then(async () => {
    for (const placed of await missed()) {
      before.add(placed.place);
      tellWanted(placed);
    }
  });
  then(() => told);
  return {
    told,
    stop() {
      for (const stop of stops) stop();
    },
  };
}
