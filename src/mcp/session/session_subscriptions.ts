/**
 * What a session subscribed to: one record for each URI, so that many at once do not rewrite each other's, with a count
 * of them in the settings of the session. Those of an anonymous session live shortly until a stream of the session uses
 * them, and as long as one does.
 *
 * @module
 */
import { secretDigest } from "../../crypto/secret.ts";
import { INVALID_REQUEST, RpcError } from "../../jsonrpc/error.ts";
import { LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import type { Entry, Key, Put, Store } from "../../store/store.ts";
import { ResourceNotFoundError } from "../error.ts";
import { type Session, type Sessions, settingsTopic } from "./session.ts";
import { RECORD_BYTES, type StorageAllowance, type Storing } from "./storage_limits.ts";
import { MAX_URI_CHARACTERS } from "../definition/uri_template.ts";
import { wakingKey } from "./wakeups.ts";

/** Resources that one session may subscribe to. */
export const MAX_SUBSCRIPTIONS: number = 1000;
/** For how long a subscription of an anonymous session waits for a stream that uses it. */
export const UNUSED_SUBSCRIPTION_MS: number = 15 * 60_000;
/** For how long one is kept after a stream used it. */
export const USED_SUBSCRIPTION_MS: number = 6 * 3_600_000;
/** How often a stream looks whether those that it uses must be kept on. */
export const RENEW_SUBSCRIPTIONS_MS: number = 5 * 60_000;
/** Records of one commit. */
const PAGE = 100;

const encoder = new TextEncoder();

/** How many there are, and their bytes. */
interface Tally {
  readonly count: number;
  readonly bytes: number;
}

export interface SubscriptionOptions {
  readonly store: Store;
  readonly sessions: Sessions;
  readonly storage: StorageAllowance;
  readonly now: () => number;
}

export class Subscriptions {
  readonly #options: SubscriptionOptions;

  constructor(options: SubscriptionOptions) {
    this.#options = options;
  }

  /**
   * Adds one, whatever other requests of the session add at the same time.
   * @throws {RpcError} -32600 when the session has as many, or as many bytes, as it may
   * @throws {LimitError} when the caller has
   */
  async add(session: Session, uri: string, storing: Storing): Promise<void> {
    if (uri.length > MAX_URI_CHARACTERS) throw new ResourceNotFoundError(uri, session.revision);
    const { store, sessions, storage } = this.#options;
    const key = keyOf(session, secretDigest(uri));
    if (await store.get(key)) return;
    const { expires, lifetime } = this.#lifetimeOf(session);
    const bytes = bytesOf(uri);
    storage.take(storing, bytes, lifetime);
    try {
      const added = await retryLostRaces(async () => {
        const [known, settings] = await Promise.all([store.get(key), sessions.settingsEntry(session)]);
        if (known) return false;
        let tally = settings?.value.subscriptions ?? { count: 0, bytes: 0 };
        // Some may have expired since they were counted.
        if (this.#isOver(session, tally, bytes)) tally = await this.#count(session);
        if (this.#isOver(session, tally, bytes)) {
          throw new RpcError(
            INVALID_REQUEST,
            `Invalid Request: too many subscriptions. A session may have at most ${MAX_SUBSCRIPTIONS}, of ${
              this.#limitOf(session)
            } bytes in total. Unsubscribe from some`,
          );
        }
        const subscriptions = { count: tally.count + 1, bytes: tally.bytes + bytes };
        const done = await store.commit({
          check: [{ key, version: null }, sessions.checkOf(session, settings)],
          set: [
            sessions.putOf(session, { ...settings?.value, subscriptions }),
            { key, value: uri, expires },
          ],
        });
        return done || LOST_RACE;
      });
      if (!added) storage.giveBack(storing, bytes, lifetime);
    } catch (error) {
      storage.giveBack(storing, bytes, lifetime);
      throw error;
    }
  }

  /** Removes one, if there is one. */
  async remove(session: Session, uri: string, storing: Storing): Promise<void> {
    // Nothing so long can be subscribed to.
    if (uri.length > MAX_URI_CHARACTERS) return;
    const { store, sessions, storage, now } = this.#options;
    const key = keyOf(session, secretDigest(uri));
    const bytes = bytesOf(uri);
    const removed = await retryLostRaces(async () => {
      const known = await store.get(key);
      if (!known) return undefined;
      const settings = await sessions.settingsEntry(session);
      const tally = settings?.value.subscriptions;
      const subscriptions = {
        count: Math.max(0, (tally?.count ?? 0) - 1),
        bytes: Math.max(0, (tally?.bytes ?? 0) - bytes),
      };
      const done = await store.commit({
        check: [{ key, version: known.version }, sessions.checkOf(session, settings)],
        set: [sessions.putOf(session, { ...settings?.value, subscriptions })],
        remove: [key],
      });
      return done ? known : LOST_RACE;
    });
    if (removed?.expires !== undefined) storage.giveBack(storing, bytes, removed.expires - now());
  }

  /** The URIs, by their digests. Keeps on those of an anonymous session, since a stream uses them. */
  async use(session: Session, storing: Storing): Promise<Map<string, string>> {
    const entries = await this.#list(session);
    await this.#keepOn(session, entries, storing);
    return new Map(entries.map(({ key, value }) => [digestOf(key)!, value]));
  }

  /** One of them: `undefined` when there is none. Keeps it on, as above. */
  async useOne(session: Session, digest: string, storing: Storing): Promise<string | undefined> {
    const entry = await this.#options.store.get<string>(keyOf(session, digest));
    if (entry) await this.#keepOn(session, [entry], storing);
    return entry?.value;
  }

  /** Removes all: the session ends. */
  async clear(session: Session): Promise<void> {
    const keys = (await this.#list(session)).map(({ key }) => key);
    for (let at = 0; at < keys.length; at += PAGE) {
      await this.#options.store.commit({ remove: keys.slice(at, at + PAGE) });
    }
  }

  #list(session: Session): Promise<Entry<string>[]> {
    return this.#options.store.list<string>(wakingKey(...settingsTopic(session)), {
      limit: MAX_SUBSCRIPTIONS,
    });
  }

  async #count(session: Session): Promise<Tally> {
    const entries = await this.#list(session);
    return { count: entries.length, bytes: entries.reduce((sum, { value }) => sum + bytesOf(value), 0) };
  }

  #isOver(session: Session, { count, bytes }: Tally, more: number): boolean {
    return count >= MAX_SUBSCRIPTIONS || bytes + more > this.#limitOf(session);
  }

  #limitOf({ principal }: Session): number {
    const { session, anonymousSession } = this.#options.storage.limits;
    return principal === "" ? anonymousSession : session;
  }

  #lifetimeOf({ principal, expires }: Session): { readonly expires: number; readonly lifetime: number } {
    const now = this.#options.now();
    const until = principal === "" ? Math.min(expires, now + UNUSED_SUBSCRIPTION_MS) : expires;
    return { expires: until, lifetime: until - now };
  }

  async #keepOn(session: Session, entries: readonly Entry<string>[], storing: Storing): Promise<void> {
    if (session.principal !== "") return;
    const { store, storage, now } = this.#options;
    const until = Math.min(session.expires, now() + USED_SUBSCRIPTION_MS);
    const due = entries.filter(({ expires = Infinity }) => expires < until - USED_SUBSCRIPTION_MS / 2);
    for (let at = 0; at < due.length; at += PAGE) {
      const page = due.slice(at, at + PAGE);
      const bytes = page.reduce((sum, { value }) => sum + bytesOf(value), 0);
      if (!storage.has(storing, bytes, USED_SUBSCRIPTION_MS)) return;
      // One that was removed meanwhile stays so; the next look keeps on the others.
      await store.commit({
        check: page.map(({ key, version }) => ({ key, version })),
        set: page.map(({ key, value }): Put => ({ key, value, expires: until })),
      });
    }
  }
}

/** Which subscription of a session a changed key is; `undefined` for the settings of the session. */
export function digestOf(key: Key): string | undefined {
  return key[3] as string | undefined;
}

function keyOf(session: Session, digest: string): Key {
  return wakingKey(...settingsTopic(session), digest);
}

function bytesOf(uri: string): number {
  return encoder.encode(uri).length + RECORD_BYTES;
}
