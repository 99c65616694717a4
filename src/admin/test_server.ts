/**
 * For tests: a whole server with the administration API, and requests to it.
 *
 * @module
 */
import { admin } from "./admin.ts";
import type { TrivetEvent } from "../events.ts";
import { gateway } from "../gateway/gateway.ts";
import type { OAuthOptions } from "../oauth_service.ts";
import { addClient } from "../oauth/clients/client.ts";
import { createApiKey } from "../skills/api_key.ts";
import { memoryStore } from "../store/drivers/memory.ts";
import type { Store } from "../store/store.ts";
import { createTrivet, type Trivet } from "../trivet.ts";

export const ISSUER = "https://trivet.example";

// deno-lint-ignore no-explicit-any
export type Json = any;

export interface Sent {
  readonly status: number;
  readonly body: Json;
  readonly headers: Headers;
}

export interface TestServer {
  readonly trivet: Trivet;
  readonly store: Store;
  readonly events: TrivetEvent[];
  /** An API key with the scope `admin`. */
  readonly key: string;
  /** The OpenAPI document. */
  readonly document: Json;
  /** @param options.headers @default those with the key */
  send(
    method: string,
    path: string,
    options?: { readonly body?: unknown; readonly headers?: Record<string, string> },
  ): Promise<Sent>;
  /** A token by client_credentials, for a resource. */
  tokenFor(resource: string | undefined, scope: string): Promise<string>;
}

/** A server with the administration API. */
export async function newServer(oauth: OAuthOptions = {}): Promise<TestServer> {
  const store = memoryStore();
  const events: TrivetEvent[] = [];
  const trivet = createTrivet({
    issuer: ISSUER,
    store,
    admin: admin(),
    oauth: { passwordIterations: 1000, ...oauth },
    gateway: gateway({ fetch: () => Promise.reject(new TypeError("no network in this test")) }),
    onEvent: (event) => void events.push(event),
  });
  const { secret: key } = await createApiKey(store, { name: "admin", scopes: ["admin"] });
  const document: Json = await (await trivet.fetch(new Request(`${ISSUER}/admin/openapi.json`))).json();

  async function send(
    method: string,
    path: string,
    { body, headers = { authorization: `Bearer ${key}` } }: {
      body?: unknown;
      headers?: Record<string, string>;
    } = {},
  ): Promise<Sent> {
    const isText = typeof body === "string";
    const response = await trivet.fetch(
      new Request(ISSUER + path, {
        method,
        headers: { ...body !== undefined && !isText && { "content-type": "application/json" }, ...headers },
        ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }),
      }),
    );
    const text = await response.text();
    return {
      status: response.status,
      body: text === "" ? undefined : JSON.parse(text),
      headers: response.headers,
    };
  }

  async function tokenFor(resource: string | undefined, scope: string): Promise<string> {
    const { client, secret } = await addClient(store, { grant_types: ["client_credentials"], scope });
    const response = await trivet.fetch(
      new Request(`${ISSUER}/oauth/token`, {
        method: "POST",
        headers: { authorization: `Basic ${btoa(`${client.id}:${secret}`)}` },
        body: new URLSearchParams({
          grant_type: "client_credentials",
          scope,
          ...(resource !== undefined && { resource }),
        }),
      }),
    );
    return (await response.json() as Json).access_token;
  }
  return { store, events, trivet, key, document, send, tokenFor };
}
