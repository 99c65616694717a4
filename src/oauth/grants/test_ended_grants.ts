/**
 * Codes and device codes of alice, for tests of what ends them. Only tests import this.
 *
 * @module
 */
import { toClient } from "../clients/client.ts";
import type { Client } from "../records/client_record.ts";
import { APP_URI, type TestServer } from "../test_server.ts";
import { listUsers } from "../users/user.ts";
import { endUserSessions } from "../users/user_sessions.ts";
import { endUserGrants } from "./end_grants.ts";

export const DEVICE = "urn:ietf:params:oauth:grant-type:device_code";
export const EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
export const tv: Client = toClient({ id: "tv", grant_types: [DEVICE, "refresh_token"] }, 0);
export const WEB = { client_id: "web", client_secret: "web-secret", redirect_uri: "https://web.example/cb" };

/** The status of the token endpoint, and the error. */
type Answer = [status: number, error: string | undefined];

export async function aliceOf({ store }: TestServer): Promise<string> {
  for await (const { id } of listUsers(store)) return id;
  throw new Error("no user");
}

export async function redeem(
  server: TestServer,
  code: string | null,
  form: Record<string, string> = {},
): Promise<Answer> {
  const response = await server.token({
    grant_type: "authorization_code",
    code: code!,
    redirect_uri: APP_URI,
    ...form,
  });
  return [response.status, (await response.json()).error];
}

export const codeOf = async (
  server: TestServer,
  parameters: Record<string, string> = {},
): Promise<string | null> => (await server.authorize(parameters)).get("code");
export const webCode = (server: TestServer): Promise<string | null> =>
  codeOf(server, { client_id: WEB.client_id, redirect_uri: WEB.redirect_uri });

/** A device request of the client "tv". */
export async function askDevice(server: TestServer): Promise<{ device_code: string; user_code: string }> {
  const form = { client_id: "tv", scope: "read" };
  return await (await server.send("/oauth/device_authorization", { form })).json();
}

export async function poll(server: TestServer, device_code: string): Promise<Answer> {
  const form = { grant_type: DEVICE, device_code, client_id: "tv" };
  const response = await server.send("/oauth/token", { form });
  return [response.status, (await response.json()).error];
}

export const endAll = async ({ store }: TestServer, user: string): Promise<void> => {
  await endUserSessions(store, user);
  await endUserGrants(store, user);
};
const KINDS = ["code", "consent", "grant"];
/** How many codes, consents and grants are stored. */
export const countsOf = async ({ store }: TestServer): Promise<number[]> =>
  await Promise.all(KINDS.map(async (kind) => (await store.list([kind])).length));
