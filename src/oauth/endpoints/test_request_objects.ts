/**
 * A client that signs request objects, and requests with them. Only tests import this.
 *
 * @module
 */
import type { AuthorizationServerOptions } from "../authorization_server.ts";
import { toClient } from "../clients/client.ts";
import type { ClientRegistration } from "../clients/client_registration.ts";
import { newKey, sign, type TestKey } from "../test_keys.ts";
import { ISSUER, newServer, type TestServer, transactionOf } from "../test_server.ts";

export const URI = "https://signer.example/cb";
export const OBJECT_URL = "https://signer.example/request.jwt";
export const TYPED = { typ: "oauth-authz-req+jwt" };
export const key: TestKey = await newKey();
export const other: TestKey = await newKey();

/** A server that accepts request objects, with a client that has a key and a secret. */
export function start(
  registration: Partial<ClientRegistration> = {},
  options: Partial<AuthorizationServerOptions> = {},
): Promise<TestServer> {
  const signer: ClientRegistration = {
    id: "signer",
    secret: "signer-secret",
    redirect_uris: [URI],
    jwks: { keys: [key.jwk] },
    ...registration,
  };
  const second = { ...signer, id: "second", jwks: { keys: [other.jwk] }, request_uris: undefined };
  const clients = [signer, second].map((each) => toClient(each, 0));
  return newServer({ requestObjects: "optional", clients, ...options });
}

export const now = (): number => Math.floor(Date.now() / 1000);

export function claims(more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    iss: "signer",
    aud: ISSUER,
    exp: now() + 60,
    client_id: "signer",
    response_type: "code",
    redirect_uri: URI,
    scope: "read",
    state: "signed",
    ...more,
  };
}

export const signed = (
  more?: Record<string, unknown>,
  header: Record<string, unknown> = TYPED,
  by: TestKey = key,
): Promise<string> => sign(by, { kid: by.jwk.kid, ...header }, claims(more));

/** Opens the authorization endpoint as alice, and consents where the page asks. */
export async function open(
  server: TestServer,
  query: Record<string, string>,
): Promise<{ status: number; page: string; answer: URLSearchParams | null }> {
  const headers = { cookie: await server.signIn() };
  const path = "/oauth/authorize?" + new URLSearchParams({ client_id: "signer", ...query });
  let response = await server.send(path, { headers });
  const page = await response.text();
  if (response.status === 200) {
    const form = { transaction: transactionOf(page), decision: "approve" };
    response = await server.send("/oauth/authorize", { form, headers });
  }
  const location = response.headers.get("location");
  return { status: response.status, page, answer: location === null ? null : new URL(location).searchParams };
}

/** Pushes the request object; the status and body of the response. */
export async function push(
  server: TestServer,
  form: Record<string, string>,
  // deno-lint-ignore no-explicit-any -- the JSON of a response
): Promise<{ status: number; body: any }> {
  const credentials = { client_id: "signer", client_secret: "signer-secret" };
  const response = await server.send("/oauth/par", { form: { ...credentials, ...form } });
  return { status: response.status, body: await response.json() };
}
