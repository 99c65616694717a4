/**
 * Back-channel logout (https://openid.net/specs/openid-connect-backchannel-1_0.html): when a login session ends, each of
 * its clients gets a logout token. It is sent after the response to the user, so that a slow client delays no one, and
 * retried for hours (`logout_notice.ts`).
 *
 * @module
 */
import { signJws } from "../../crypto/jws.ts";
import { randomId } from "../../crypto/secret.ts";
import {
  createConfiguredFetch,
  createPublicFetch,
  findConnect,
  type PublicFetch,
  PublicFetchError,
} from "../../http/network/public_fetch.ts";
import type { RequestContext } from "../../http/service.ts";
import { timerDelay, unrefTimer } from "../../timer.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { findClient } from "../clients/client.ts";
import type { Client } from "../records/client_record.ts";
import type { LogoutNotice } from "../records/session_record.ts";
import { idTokenAlgorithmOf } from "./id_token.ts";
import {
  postponeNotice,
  queueNotices,
  removeNotice,
  takeDueNotices,
  TAKEN_BY_OTHER,
  type TakenNotice,
} from "./logout_notice.ts";
import { sessionIdOf, subjectOf } from "./subject.ts";

const EVENT = "http://schemas.openid.net/event/backchannel-logout";
const TYPE = "logout+jwt";
const LIFETIME_SECONDS = 120;
/** Notices that one instance sends; the others wait in the queue. */
const MAX_SENDING = 500;
const MAX_AT_ONCE = 8;
const MAX_TIMERS = 100;
const CHECK_INTERVAL_MS = 60_000;
/** Before each try of a first delivery. A later one is a single try. */
const DELAYS_MS = [0, 1000];
const TIMEOUT_MS = 5000;
const MAX_RESPONSE_BYTES = 10_240;

/** What an instance does now. It may be lost at any moment. */
interface Sending {
  count: number;
  /** Timers that wait for a notice to be due. */
  timers: number;
  /** When the queue is read the next time, in milliseconds since the epoch. */
  nextCheck: number;
}

const sending = new WeakMap<AuthorizationServer, Sending>();

function sendingOf(as: AuthorizationServer): Sending {
  const now = sending.get(as) ?? { count: 0, timers: 0, nextCheck: 0 };
  sending.set(as, now);
  return now;
}

/**
 * Stores a notice for each client of the session, before the session ends.
 * @param origin of the session
 * @returns starts sending them, in the background
 */
export async function prepareSessionEnd(
  as: AuthorizationServer,
  origin: string,
  context: RequestContext,
): Promise<() => void> {
  const taken = await queueNotices(as.store, origin, as.now());
  return () => {
    inBackground(as, context, async () => {
      // Also to a client that got a code after the others were read.
      const late = await queueNotices(as.store, origin, as.now());
      await sendAll(as, [...taken, ...late], context);
    });
    void sendDueNotices(as, context);
  };
}

/** Notifies the clients of sessions that this server ended by `users/user_sessions.ts`, in the background. Resolves at once. */
export function notifyEndedSessions(as: AuthorizationServer, context: RequestContext): Promise<void> {
  sendingOf(as).nextCheck = 0;
  return sendDueNotices(as, context);
}

/** Sends notices that are due, of any instance, in the background. Reads the queue at most once a minute. Resolves at once. */
export function sendDueNotices(as: AuthorizationServer, context: RequestContext): Promise<void> {
  const state = sendingOf(as);
  const now = as.now();
  // A clock that was set back makes the time of the next check unknown.
  if (now < state.nextCheck && now >= state.nextCheck - CHECK_INTERVAL_MS) return Promise.resolve();
  state.nextCheck = now + CHECK_INTERVAL_MS;
  inBackground(as, context, async () => {
    const taken = await takeDueNotices(as.store, as.now());
    await sendAll(as, taken, context);
  });
  return Promise.resolve();
}

function inBackground(as: AuthorizationServer, context: RequestContext, work: () => Promise<void>): void {
  const done = work().catch((error) => as.observe({ type: "fault", where: "oauth", error }));
  context.waitUntil?.(done);
}

async function sendAll(
  as: AuthorizationServer,
  notices: readonly TakenNotice[],
  context: RequestContext,
): Promise<void> {
  const waiting = [...notices];
  const state = sendingOf(as);
  const run = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      // It stays in the queue.
      if (state.count >= MAX_SENDING) continue;
      state.count++;
      try {
        await send(as, next, context);
      } finally {
        state.count--;
      }
    }
  };
  await Promise.all(Array.from({ length: MAX_AT_ONCE }, run));
}

/** Delivers the notice, or leaves it for later. */
async function send(as: AuthorizationServer, taken: TakenNotice, context: RequestContext): Promise<void> {
  const { client_id, user } = taken.notice;
  try {
    await deliver(as, taken.notice, context);
  } catch (error) {
    if (!isFinal(error)) {
      const due = await postponeNotice(as.store, taken, as.now());
      if (due === TAKEN_BY_OTHER) return;
      if (due !== undefined) return sendLater(as, due);
    } else await removeNotice(as.store, taken);
    const reason = error instanceof Error ? error.message : String(error);
    as.observe({ type: "logout_not_delivered", client: client_id, user, reason });
    return;
  }
  await removeNotice(as.store, taken);
}

/** §2.8: the client says that the token is not valid for it, or that it could not sign the user out. */
function isFinal(error: unknown): boolean {
  return error instanceof PublicFetchError && error.status === 400;
}

/** A timer of this instance; while it does not run, another one sends the notice with one of its requests. */
function sendLater(as: AuthorizationServer, due: number): void {
  const state = sendingOf(as);
  if (state.timers >= MAX_TIMERS) return;
  state.timers++;
  const timer = setTimeout(() => {
    state.timers--;
    state.nextCheck = 0;
    // Not the request that caused it: that one has ended.
    void sendDueNotices(as, {});
  }, timerDelay(due - as.now()));
  unrefTimer(timer);
}

async function deliver(
  as: AuthorizationServer,
  { session, client_id, user, failures }: LogoutNotice,
  context: RequestContext,
): Promise<void> {
  const client = await findClient(as, client_id, context);
  const url = client?.backchannel_logout_uri;
  if (!client || url === undefined) return;
  const logout_token = await createLogoutToken(as, client, session, user);
  const post = fetchFor(as, client);
  const delays = failures === 0 ? DELAYS_MS : [0];
  for (const [attempt, delay] of delays.entries()) {
    if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
    try {
      await post(url, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ logout_token }).toString(),
      });
      return;
    } catch (error) {
      if (attempt === delays.length - 1 || isFinal(error)) throw error;
    }
  }
}

/** §2.4: no `nonce`, so that no client takes it for an ID token. */
async function createLogoutToken(
  as: AuthorizationServer,
  client: Client,
  session: string,
  user: string,
): Promise<string> {
  const iat = Math.floor(as.now() / 1000);
  return await signJws(await as.keys.current(idTokenAlgorithmOf(as, client)), TYPE, {
    iss: as.issuer,
    sub: await subjectOf(as, client, user),
    aud: client.id,
    iat,
    exp: iat + LIFETIME_SECONDS,
    jti: randomId(""),
    sid: sessionIdOf(session, client.id),
    events: { [EVENT]: {} },
  });
}

/** The URL of a client that the operator configured may be on a private host; every other must be public. */
function fetchFor(as: AuthorizationServer, client: Client): PublicFetch {
  const limits = { limit: MAX_RESPONSE_BYTES, timeout: TIMEOUT_MS, statuses: [200, 204] };
  return client.source === "operator"
    ? createConfiguredFetch({ connect: (url, init) => fetch(url, init), ...limits })
    : createPublicFetch({ connect: findConnect(as.connect), ...limits });
}
