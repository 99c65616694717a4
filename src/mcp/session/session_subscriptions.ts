/**
 * The resource subscriptions of a session: one record per URI, so that concurrent requests do not overwrite each other, and
 * their number in the settings of the session. Subscriptions of an anonymous session expire soon unless a stream uses them.
 *
 * @module
 */
import { secretDigest } from "../../crypto/secret.ts";
import { INVALID_REQUEST, RpcError } from "../../jsonrpc/error.ts";
import { LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import type { Entry, Key, Put, Store } from "../../store/store.ts";
import { timerDelay } from "../../timer.ts";
import { ResourceNotFoundError } from "../definition/resources.ts";
import { type Session, type Sessions, settingsTopic } from "./session.ts";
import { type Caller, RECORD_BYTES, type StorageAllowance } from "./storage_limits.ts";
import { MAX_URI_CHARACTERS } from "../definition/uri/uri_template.ts";
import { watchedKey } from "./wakeups.ts";

export const MAX_SUBSCRIPTIONS: number = 1000;
/** How long a subscription of an anonymous session waits for a stream. */
export const UNUSED_SUBSCRIPTION_MS: number = 15 * 60_000;
/** How long it is kept after a stream used it. */
export const USED_SUBSCRIPTION_MS: number = 6 * 3_600_000;
/** How often a stream renews the subscriptions that it uses. */
export const RENEW_SUBSCRIPTIONS_MS: number = 5 * 60_000;
/** How often the records of a local session are renewed: more than once, as a renewal may fail. */
const RENEWALS_PER_LIFETIME = 4;
/** Records in one commit. */
const MAX_COMMIT_RECORDS = 100;

const encoder = new TextEncoder();

/** The number of subscriptions and their bytes. */
interface Usage {
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
   * Adds a subscription. Concurrent changes of other requests are kept.
   * @throws {RpcError} -32600 at the limit of the session
   * @throws {LimitError} at the caller's storage limit
   */
  async add(session: Session, uri: string, caller: Caller): Promise<void> {
    if (uri.length > MAX_URI_CHARACTERS) throw new ResourceNotFoundError(uri, session.revision);
    const { store, sessions, storage } = this.#options;
    const key = keyOf(session, secretDigest(uri));
    if (await store.get(key)) return;
    const { expires, lifetime } = this.#lifetimeOf(session);
    const bytes = bytesOf(uri);
    storage.take(caller, bytes, lifetime);
    try {
      const added = await retryLostRaces(async () => {
        const [known, settings] = await Promise.all([store.get(key), sessions.settingsEntry(session)]);
        if (known) return false;
        let usage = settings?.value.subscriptions ?? { count: 0, bytes: 0 };
        // Some may have expired since the last count.
        if (this.#exceedsLimit(session, usage, bytes)) usage = await this.#count(session);
        if (this.#exceedsLimit(session, usage, bytes)) {
          throw new RpcError(
            INVALID_REQUEST,
            `Invalid Request: too many subscriptions. A session may have at most ${MAX_SUBSCRIPTIONS}, of ${
              this.#limitOf(session)
            } bytes in total. Unsubscribe from some`,
          );
        }
        const subscriptions = { count: usage.count + 1, bytes: usage.bytes + bytes };
        const done = await store.commit({
          check: [{ key, version: null }, sessions.settingsCheck(session, settings)],
          set: [
            sessions.settingsPut(session, { ...settings?.value, subscriptions }),
            { key, value: uri, expires },
          ],
        });
        return done || LOST_RACE;
      });
      if (!added) storage.giveBack(caller, bytes, lifetime);
    } catch (error) {
      storage.giveBack(caller, bytes, lifetime);
      throw error;
    }
  }

  /** Removes a subscription, if it exists. */
  async remove(session: Session, uri: string, caller: Caller): Promise<void> {
    // No subscription has such a long URI.
    if (uri.length > MAX_URI_CHARACTERS) return;
    const { store, sessions, storage, now } = this.#options;
    const key = keyOf(session, secretDigest(uri));
    const bytes = bytesOf(uri);
    const removed = await retryLostRaces(async () => {
      const known = await store.get(key);
      if (!known) return undefined;
      const settings = await sessions.settingsEntry(session);
      const usage = settings?.value.subscriptions;
      const subscriptions = {
        count: Math.max(0, (usage?.count ?? 0) - 1),
        bytes: Math.max(0, (usage?.bytes ?? 0) - bytes),
      };
      const done = await store.commit({
        check: [{ key, version: known.version }, sessions.settingsCheck(session, settings)],
        set: [sessions.settingsPut(session, { ...settings?.value, subscriptions })],
        remove: [key],
      });
      return done ? known : LOST_RACE;
    });
    if (removed?.expires !== undefined) storage.giveBack(caller, bytes, removed.expires - now());
  }

  /** The URIs by digest, for a stream. Renews the subscriptions of an anonymous session. */
  async use(session: Session, caller: Caller): Promise<Map<string, string>> {
    const entries = await this.#list(session);
    await this.#renew(session, entries, caller);
    return new Map(entries.map(({ key, value }) => [digestOf(key)!, value]));
  }

  /** The URI of one subscription, for a stream; `undefined` when it does not exist. Renews it, as {@linkcode use}. */
  async useOne(session: Session, digest: string, caller: Caller): Promise<string | undefined> {
    const entry = await this.#options.store.get<string>(keyOf(session, digest));
    if (entry) await this.#renew(session, [entry], caller);
    return entry?.value;
  }

  /** Keeps the records of a local session (`Sessions.createLocal`), its settings too, until the returned function is called. */
  keep(session: Session): () => void {
    const { sessions, now } = this.#options;
    const renew = async (): Promise<void> => {
      const settings = await sessions.settingsEntry(session);
      if (settings) await this.#renewPage([settings], session.expires);
      const entries = await this.#list(session);
      for (let at = 0; at < entries.length; at += MAX_COMMIT_RECORDS) {
        await this.#renewPage(entries.slice(at, at + MAX_COMMIT_RECORDS), session.expires);
      }
    };
    const interval = timerDelay((session.expires - now()) / RENEWALS_PER_LIFETIME);
    // While the store is unavailable the records stay as they are.
    const renewing = setInterval(() => void renew().catch(() => {}), interval);
    return () => clearInterval(renewing);
  }

  /** Removes all subscriptions of a session. */
  async clear(session: Session): Promise<void> {
    const keys = (await this.#list(session)).map(({ key }) => key);
    for (let at = 0; at < keys.length; at += MAX_COMMIT_RECORDS) {
      await this.#options.store.commit({ remove: keys.slice(at, at + MAX_COMMIT_RECORDS) });
    }
  }

  #list(session: Session): Promise<Entry<string>[]> {
    return this.#options.store.list<string>(watchedKey(...settingsTopic(session)), {
      limit: MAX_SUBSCRIPTIONS,
    });
  }

  async #count(session: Session): Promise<Usage> {
    const entries = await this.#list(session);
    return { count: entries.length, bytes: entries.reduce((sum, { value }) => sum + bytesOf(value), 0) };
  }

  #exceedsLimit(session: Session, { count, bytes }: Usage, more: number): boolean {
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

  async #renew(session: Session, entries: readonly Entry<string>[], caller: Caller): Promise<void> {
    if (session.principal !== "") return;
    const { storage, now } = this.#options;
    const since = now();
    const until = Math.min(session.expires, since + USED_SUBSCRIPTION_MS);
    const due = entries.filter(({ expires = Infinity }) => expires - since < (until - since) / 2);
    for (let at = 0; at < due.length; at += MAX_COMMIT_RECORDS) {
      const page = due.slice(at, at + MAX_COMMIT_RECORDS);
      const bytes = page.reduce((sum, { value }) => sum + bytesOf(value), 0);
      if (!storage.tryTake(caller, bytes, USED_SUBSCRIPTION_MS)) return;
      await this.#renewPage(page, until);
    }
  }

  /** A record that was changed meanwhile fails the commit; the next renewal renews the others. */
  async #renewPage(page: readonly Entry<unknown>[], expires: number): Promise<void> {
    await this.#options.store.commit({
      check: page.map(({ key, version }) => ({ key, version })),
      set: page.map(({ key, value }): Put => ({ key, value, expires })),
    });
  }
}

/** The digest in the key of a subscription; `undefined` for the key of the settings. */
export function digestOf(key: Key): string | undefined {
  return key[3] as string | undefined;
}

function keyOf(session: Session, digest: string): Key {
  return watchedKey(...settingsTopic(session), digest);
}

function bytesOf(uri: string): number {
  return encoder.encode(uri).length + RECORD_BYTES;
}
