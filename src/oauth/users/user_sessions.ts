/**
 * The login sessions of a user, wherever they were started: lists them, and ends one or all. Every session has an index
 * record under its user, written in the same commit (`session.ts`). A session of an earlier version gets its index record
 * when its use is next written.
 *
 * @module
 */
import { LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import { type Entry, type Key, listAll, type Store, timeOf } from "../../store/store.ts";
import {
  endedSessionKey,
  NOTICE_LIFETIME_MS,
  type Session,
  type SessionIndex,
  sessionKey,
  signedOutKey,
  userSessionKey,
  userSessionsPrefix,
} from "../records/session_record.ts";

type IndexEntry = Pick<Entry<SessionIndex>, "key" | "value" | "version">;

/** Sessions that are listed: a program that signs in for each of its runs has many. */
const MAX_LISTED = 1000;
/** Sessions that end in one commit. */
const MAX_BATCH = 100;
/** Longer than a login can be under way: ten minutes at an identity provider, then ten for the second factor. */
const MAX_LOGIN_MS = 25 * 60_000;

/** One login session. Times are milliseconds since the epoch. */
export interface UserSession {
  /** Names the session to its user. It is no secret. */
  readonly id: string;
  /** The digest of its secret: the key of its record. */
  readonly digest: string;
  readonly created: number;
  /** When it was last used, to within a tenth of its idle lifetime. */
  readonly seen: number;
  /** The IP address of the login, where the runtime reports it. */
  readonly address?: string;
  /** Up to 200 characters of the `User-Agent` of the login. */
  readonly agent?: string;
  /** How the user proved who they are (RFC 9470 section 3). */
  readonly acr: string;
  /** By which methods (RFC 8176). */
  readonly amr?: readonly string[];
}

/** The sessions of the user, last used first; up to 1000 of them. */
export async function listUserSessions(store: Store, user: string): Promise<UserSession[]> {
  const found: UserSession[] = [];
  for (const batch of toBatches(await readIndex(store, user, MAX_LISTED))) {
    const entries = await Promise.all(batch.map(({ key }) => store.get<Session>(sessionKey(digestOf(key)))));
    for (const entry of entries) {
      if (entry) found.push(toUserSession(digestOf(entry.key), entry.value));
    }
  }
  return found.sort((a, b) => b.seen - a.seen);
}

/** Ends one session of the user. @returns `false` when the user has none with this id */
export async function endUserSession(store: Store, user: string, id: string): Promise<boolean> {
  const session = (await listUserSessions(store, user)).find((each) => each.id === id);
  const entry = session && await store.get<SessionIndex>(userSessionKey(user, session.digest));
  return entry !== undefined && await end(store, user, [entry]);
}

/**
 * Ends all sessions of the user, except the one with the digest `except`. A login that is under way starts none
 * (`user_sessions_test.ts`).
 * @returns how many ended
 */
export async function endUserSessions(
  store: Store,
  user: string,
  { except }: { readonly except?: string | undefined } = {},
): Promise<number> {
  const now = timeOf(store);
  // First, so that a session which starts beside this call is refused or in the list.
  await store.commit({ set: [{ key: signedOutKey(user), value: now, expires: now + MAX_LOGIN_MS }] });
  const ended = (await readIndex(store, user)).filter(({ key }) => digestOf(key) !== except);
  for (const batch of toBatches(ended)) await end(store, user, batch);
  await passMillisecond(store, now);
  return ended.length;
}

/**
 * Waits until a login that begins after the call has a later time than the one that was noted: the clock of workerd stands
 * still while nothing waits. A clock that was set back is not waited for.
 */
async function passMillisecond(store: Store, noted: number): Promise<void> {
  for (let waits = 0; waits < 5 && timeOf(store) <= noted; waits++) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/**
 * Ends sessions, and those that continue them since the entries were read. The running server notifies their clients
 * (`openid/backchannel_logout.ts`).
 * @returns `false` when they had ended
 */
async function end(store: Store, user: string, entries: readonly IndexEntry[]): Promise<boolean> {
  const origins = new Set(entries.map(originOf));
  const expires = timeOf(store) + NOTICE_LIFETIME_MS;
  const set = [...origins].map((origin) => ({ key: endedSessionKey(origin), value: true, expires }));
  let live = entries;
  return await retryLostRaces(async () => {
    const check = live.map(({ key, version }) => ({ key, version }));
    const remove = live.flatMap(({ key }) => [sessionKey(digestOf(key)), key]);
    if (await store.commit({ check, remove, set })) return true;
    live = (await readIndex(store, user)).filter((entry) => origins.has(originOf(entry)));
    return live.length > 0 && LOST_RACE;
  });
}

async function readIndex(store: Store, user: string, max = Infinity): Promise<IndexEntry[]> {
  const entries: IndexEntry[] = [];
  for await (const entry of listAll<SessionIndex>(store, userSessionsPrefix(user))) {
    entries.push(entry);
    if (entries.length >= max) break;
  }
  return entries;
}

function originOf({ key, value }: IndexEntry): string {
  return value === true ? digestOf(key) : value;
}

function digestOf(key: Key): string {
  return String(key.at(-1));
}

function toBatches<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  const count = Math.ceil(items.length / MAX_BATCH);
  return Array.from({ length: count }, (_, i) => items.slice(i * MAX_BATCH, (i + 1) * MAX_BATCH));
}

function toUserSession(
  digest: string,
  { id = digest.slice(0, 22), created, seen, address, agent, acr, amr }: Session,
): UserSession {
  return {
    id,
    digest,
    created,
    seen,
    ...(address !== undefined && { address }),
    ...(agent !== undefined && { agent }),
    acr,
    ...(amr && { amr }),
  };
}
