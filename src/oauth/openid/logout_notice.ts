/**
 * The queue of back-channel logout notices. It is in the store, so that a notice survives the process that was to send it:
 * any instance sends what is due. A notice replaces the record that the client took part in the session, so there are never
 * more notices than there were sign-ins.
 *
 * @module
 */
import { randomId } from "../../crypto/secret.ts";
import { LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import type { Put, Store } from "../../store/store.ts";
import {
  ENDED_SESSIONS,
  endedSessionKey,
  LOGOUT_NOTICES,
  type LogoutNotice,
  logoutNoticeKey,
} from "../records/session_record.ts";
import { listSessionClients, MAX_CLIENTS } from "./session_client.ts";

/** For which the instance that took a notice has it to itself; then another one takes it. */
const LEASE_MS = 60_000;
/** After which a notice is given up, even when no instance ran to send it. */
const LIFETIME_MS = 24 * 60 * 60 * 1000;
/** After each failed delivery. */
const RETRY_DELAYS_MS = [10_000, 60_000, 5 * 60_000, 30 * 60_000, 2 * 3600_000, 6 * 3600_000];
const MAX_TAKEN = 50;

/** Another instance has the notice. */
export const TAKEN_BY_OTHER: unique symbol = Symbol("taken by another instance");

/** A notice that this instance is to send. */
export interface TakenNotice {
  readonly due: number;
  readonly id: string;
  readonly notice: LogoutNotice;
}

/**
 * Turns the records of up to {@linkcode MAX_CLIENTS} clients that took part in a session into notices, which the caller is to
 * send. Then the session stays among the ended ones, for the other clients.
 * @param origin of the session
 * @param now milliseconds since the epoch
 */
export async function queueNotices(
  store: Store,
  origin: string,
  now: number,
): Promise<readonly TakenNotice[]> {
  return await retryLostRaces(async () => {
    const entries = await listSessionClients(store, origin);
    if (entries.length === 0) return [];
    const taken = entries.map(({ value: { client_id, user } }): TakenNotice => ({
      due: now + LEASE_MS,
      id: randomId(""),
      notice: { session: origin, client_id, user, failures: 0, until: now + LIFETIME_MS },
    }));
    const check = entries.map(({ key, version }) => ({ key, version }));
    const remove = entries.map(({ key }) => key);
    // The race may be lost to another request that ends the session, which notifies, or to a code for one of the clients.
    const set = taken.map(toPut);
    if (taken.length === MAX_CLIENTS) {
      set.push({ key: endedSessionKey(origin), value: true, expires: now + LIFETIME_MS });
    }
    return await store.commit({ check, remove, set }) ? taken : LOST_RACE;
  });
}

/** Takes the notices of sessions that `users/user_sessions.ts` ended, and those that are due, the oldest first. */
export async function takeDueNotices(store: Store, now: number): Promise<readonly TakenNotice[]> {
  const taken: TakenNotice[] = [];
  for (const { key } of await store.list(ENDED_SESSIONS, { limit: MAX_TAKEN })) {
    const notices = await queueNotices(store, String(key[1]), now);
    taken.push(...notices);
    if (notices.length < MAX_CLIENTS) await store.commit({ remove: [key] });
  }
  const entries = await store.list<LogoutNotice>(LOGOUT_NOTICES, { limit: MAX_TAKEN });
  for (const { key, version, value: notice } of entries) {
    if (Number(key[1]) > now) break;
    const next: TakenNotice = { due: now + LEASE_MS, id: String(key[2]), notice };
    const done = await store.commit({ check: [{ key, version }], remove: [key], set: [toPut(next)] });
    if (done) taken.push(next);
  }
  return taken;
}

/** Removes a notice that was delivered, or that no one is to get any more. */
export async function removeNotice(store: Store, { due, id }: TakenNotice): Promise<void> {
  await store.commit({ remove: [logoutNoticeKey(due, id)] });
}

/**
 * Keeps a notice that was not delivered for a later try.
 * @returns when it is due, in milliseconds since the epoch; `undefined` when it was given up; {@linkcode TAKEN_BY_OTHER}
 * when another instance has it, because the lease ended
 */
export async function postponeNotice(
  store: Store,
  taken: TakenNotice,
  now: number,
): Promise<number | typeof TAKEN_BY_OTHER | undefined> {
  const { notice } = taken;
  const entry = await store.get(logoutNoticeKey(taken.due, taken.id));
  if (!entry) return TAKEN_BY_OTHER;
  const { key, version } = entry;
  const delay = RETRY_DELAYS_MS[notice.failures];
  if (delay === undefined || now + delay >= notice.until) {
    await removeNotice(store, taken);
    return undefined;
  }
  const due = now + delay;
  const next: TakenNotice = { ...taken, due, notice: { ...notice, failures: notice.failures + 1 } };
  const done = await store.commit({ check: [{ key, version }], remove: [key], set: [toPut(next)] });
  return done ? due : TAKEN_BY_OTHER;
}

function toPut({ due, id, notice }: TakenNotice): Put {
  return { key: logoutNoticeKey(due, id), value: notice, expires: notice.until };
}
