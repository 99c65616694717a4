/**
 * An issuer other than Trivet, in memory: metadata, rotating keys, introspection and failures. Only tests import this.
 *
 * @module
 */
import type { TrivetEvent } from "../../events.ts";
import { type ResourceServer, resourceServer, type ResourceServerOptions } from "../../resource_server.ts";
import { newKey, sign, type TestKey } from "../test_keys.ts";

export const ISSUER = "https://login.example/tenant";
export const API = "https://api.example/orders";
const METADATA = "https://login.example/.well-known/oauth-authorization-server/tenant";
const KEYS = "https://login.example/tenant/keys";
const INTROSPECTION = "https://login.example/tenant/introspect";

export interface TestIssuer {
  /** Published by the JWK Set; the first one signs. */
  keys: TestKey[];
  /** Answers instead of the document at a URL. */
  readonly answers: Map<string, (init: RequestInit) => Response | Promise<Response>>;
  /** Requested URLs, in order. */
  readonly requested: string[];
  readonly events: TrivetEvent[];
  /** The claims of active tokens, for introspection. */
  readonly active: Map<string, Record<string, unknown>>;
  /** The claims of a valid token, except for the given ones; `undefined` omits one. */
  claims(more?: Record<string, unknown>): Record<string, unknown>;
  /** A valid JWT, except for the given claims, header and key. */
  token(claims?: Record<string, unknown>, header?: Record<string, unknown>, key?: TestKey): Promise<string>;
  guard(options?: Partial<ResourceServerOptions>): ResourceServer;
  advance(seconds: number): void;
}

export const URLS: Readonly<Record<"metadata" | "keys" | "introspection", string>> = {
  metadata: METADATA,
  keys: KEYS,
  introspection: INTROSPECTION,
};
export const CREDENTIALS = { clientId: "orders api", clientSecret: "s:e%c+r&t" } as const;

export async function newIssuer(): Promise<TestIssuer> {
  let offset = 0;
  const now = () => Date.now() + offset;
  const issuer: TestIssuer = {
    keys: [await newKey("ES256", "first")],
    answers: new Map(),
    requested: [],
    events: [],
    active: new Map(),
    claims: (more = {}) => {
      const seconds = Math.floor(now() / 1000);
      return {
        iss: ISSUER,
        aud: API,
        sub: "alice",
        client_id: "app",
        scope: "orders.read",
        iat: seconds,
        exp: seconds + 300,
        jti: "1",
        ...more,
      };
    },
    token: (claims = {}, header = {}, key = issuer.keys[0]!) =>
      sign(key, { typ: "at+jwt", kid: key.jwk.kid, ...header }, issuer.claims(claims)),
    guard: (options = {}) =>
      resourceServer({
        issuer: ISSUER,
        resource: API,
        fetch: async (url, init) => {
          issuer.requested.push(url);
          if (init.redirect !== "manual") throw new Error("The platform would follow redirects");
          return await (issuer.answers.get(url) ?? documents[url] ?? notFound)(init);
        },
        onEvent: (event) => issuer.events.push(event),
        now,
        ...options,
      }),
    advance: (seconds) => void (offset += seconds * 1000),
  };
  const documents: Record<string, (init: RequestInit) => Response> = {
    [METADATA]: () =>
      Response.json({ issuer: ISSUER, jwks_uri: KEYS, introspection_endpoint: INTROSPECTION }),
    [KEYS]: () => Response.json({ keys: issuer.keys.map(({ jwk }) => jwk) }),
    [INTROSPECTION]: ({ method, headers, body }) => {
      // RFC 6749 §2.3.1: the form encoding of id and secret.
      const expected = `Basic ${btoa("orders+api:s%3Ae%25c%2Br%26t")}`;
      if (method !== "POST" || new Headers(headers).get("authorization") !== expected) {
        return new Response(null, { status: 401 });
      }
      const claims = issuer.active.get(new URLSearchParams(body as string).get("token")!);
      return Response.json(claims ? { active: true, ...claims } : { active: false });
    },
  };
  return issuer;
}

const notFound = () => new Response(null, { status: 404 });

/** A request to the API with this token. */
export function withToken(token: string, headers: Record<string, string> = {}, scheme = "Bearer"): Request {
  return new Request(API, { headers: { authorization: `${scheme} ${token}`, ...headers } });
}

/** `"ok"`, or the status and the error of the challenge. */
export async function outcome(
  guard: ResourceServer,
  request: Request,
  scopes: readonly string[] = [],
): Promise<string> {
  const answer = await guard.protect(request, { scopes });
  if (!(answer instanceof Response)) return "ok";
  const error = /error="([a-z_]+)"/.exec(answer.headers.get("www-authenticate") ?? "")?.[1];
  return [answer.status, error].filter((each) => each !== undefined).join(" ");
}
