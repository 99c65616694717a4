/**
 * Back-channel logout (https://openid.net/specs/openid-connect-backchannel-1_0.html): when a login session ends, each of
 * its clients gets a logout token. It is sent after the response to the user, so that a slow client delays no one.
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
} from "../../http/network/public_fetch.ts";
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { findClient } from "../clients/client.ts";
import type { Client, SessionClient } from "../records.ts";
import { sessionClientsPrefix } from "../records.ts";
import { idTokenAlgorithmOf } from "./id_token.ts";
import { sessionIdOf, subjectOf } from "./subject.ts";

const EVENT = "http://schemas.openid.net/event/backchannel-logout";
const TYPE = "logout+jwt";
const LIFETIME_SECONDS = 120;
/** Clients of one session that are notified. */
const MAX_CLIENTS = 100;
/** Notices of all sessions that are sent or wait; more are given up at once. */
const MAX_PENDING = 500;
const MAX_AT_ONCE = 8;
/** Before each try. */
const DELAYS_MS = [0, 1000, 5000];
const TIMEOUT_MS = 5000;
const MAX_RESPONSE_BYTES = 10_240;

const pending = new WeakMap<AuthorizationServer, { count: number }>();

/** Notifies the clients of the session, in the background. @param session the digest of its secret */
export async function notifySessionEnd(
  as: AuthorizationServer,
  session: string,
  context: RequestContext,
): Promise<void> {
  const entries = await as.store.list<SessionClient>(sessionClientsPrefix(session), { limit: MAX_CLIENTS });
  if (entries.length === 0) return;
  // One of several requests that end the session notifies.
  const check = entries.map(({ key, version }) => ({ key, version }));
  if (!await as.store.commit({ check, remove: entries.map(({ key }) => key) })) return;
  const work = notifyAll(as, session, entries.map(({ value }) => value), context);
  context.waitUntil?.(work);
}

async function notifyAll(
  as: AuthorizationServer,
  session: string,
  clients: readonly SessionClient[],
  context: RequestContext,
): Promise<void> {
  const waiting = [...clients];
  const load = pending.get(as) ?? { count: 0 };
  pending.set(as, load);
  const run = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { client_id, user } = next;
      if (load.count >= MAX_PENDING) {
        as.observe({
          type: "logout_not_delivered",
          client: client_id,
          reason: "too many notices are pending",
        });
        continue;
      }
      load.count++;
      try {
        await notify(as, session, next, context);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        as.observe({ type: "logout_not_delivered", client: client_id, user, reason });
      } finally {
        load.count--;
      }
    }
  };
  await Promise.all(Array.from({ length: MAX_AT_ONCE }, run));
}

async function notify(
  as: AuthorizationServer,
  session: string,
  { client_id, user }: SessionClient,
  context: RequestContext,
): Promise<void> {
  const client = await findClient(as, client_id, context);
  const url = client?.backchannel_logout_uri;
  if (!client || url === undefined) return;
  const logout_token = await createLogoutToken(as, client, session, user);
  const send = fetchFor(as, client);
  for (const [attempt, delay] of DELAYS_MS.entries()) {
    if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
    try {
      await send(url, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ logout_token }).toString(),
      });
      return;
    } catch (error) {
      if (attempt === DELAYS_MS.length - 1) throw error;
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
  return await signJws(await as.keys.current(idTokenAlgorithmOf(client)), TYPE, {
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
