/**
 * Identity providers in memory, whose answers a test can change, and a browser with cookies. Only tests import this.
 *
 * @module
 */
import { encodeBase64url } from "../../crypto/base64url.ts";
import { sha256 } from "../../crypto/sha256.ts";
import { newKey, sign, type TestKey } from "../test_keys.ts";
import { newServer, type TestServer } from "../test_server.ts";
import { oidc } from "./oidc.ts";
import type { SignInProvider } from "./provider.ts";

export const PROVIDER = "https://idp.example";
export const CLIENT = { clientId: "trivet", clientSecret: "s:e%c+r&t" } as const;

export interface TestProvider {
  key: TestKey;
  /** The user who signs in there. */
  claims: Record<string, unknown>;
  /** Members of the metadata, the ID token, its header, the token response and the callback, over the right ones. */
  metadata: Record<string, unknown>;
  idToken: Record<string, unknown>;
  header: Record<string, unknown>;
  tokens: Record<string, unknown>;
  callback: Record<string, string | undefined>;
  userInfo: Record<string, unknown>;
  /** Whether this is the client secret in a form. @default `CLIENT.clientSecret` */
  isSecret: (secret: string | null) => boolean | Promise<boolean>;
  /** The refresh tokens that it takes: each once. */
  readonly refreshTokens: Set<string>;
  /** The tokens that were revoked, refresh tokens first. */
  readonly revoked: string[];
  /** Answers instead of a URL. */
  readonly answers: Map<string, (init: RequestInit) => Response>;
  /** Requests that it got. */
  readonly requests: { readonly url: string; readonly init: RequestInit }[];
  fetch(url: string, init: RequestInit): Promise<Response>;
  /** What the provider does with the browser: the URL of the callback. */
  authorize(location: string): URL;
}

/** One for all providers: Deno needs half a second to make one. The value is kept, because on Workers a promise ends with its request. */
let firstKey: TestKey | undefined;

/** @param issuer of its metadata and tokens @param at where it is found */
export async function newProvider(issuer: string = PROVIDER, at: string = issuer): Promise<TestProvider> {
  const codes = new Map<string, URLSearchParams>();
  const provider: TestProvider = {
    key: firstKey ??= await newKey("RS256", "first"),
    claims: { sub: "248289", name: "Jane Doe", email: "jane@example.com", email_verified: true },
    metadata: {},
    idToken: {},
    header: {},
    tokens: {},
    callback: {},
    userInfo: {},
    isSecret: (secret) => secret === CLIENT.clientSecret,
    refreshTokens: new Set(),
    revoked: [],
    answers: new Map(),
    requests: [],
    async fetch(url, init) {
      provider.requests.push({ url, init });
      const answer = provider.answers.get(url);
      if (answer) return answer(init);
      switch (url) {
        case `${at}/.well-known/openid-configuration`:
          return Response.json({
            issuer,
            authorization_endpoint: `${at}/authorize`,
            token_endpoint: `${at}/token`,
            jwks_uri: `${at}/keys`,
            userinfo_endpoint: `${at}/userinfo`,
            revocation_endpoint: `${at}/revoke`,
            ...provider.metadata,
          });
        case `${at}/keys`:
          return Response.json({ keys: [provider.key.jwk] });
        case `${at}/userinfo`:
          return Response.json({ sub: provider.claims["sub"], ...provider.userInfo });
        case `${at}/token`:
          return await redeem(new URLSearchParams(init.body as string), new Headers(init.headers));
        case `${at}/revoke`:
          provider.revoked.push(new URLSearchParams(init.body as string).get("token")!);
          return new Response(null, { status: 200 });
        default:
          return new Response(null, { status: 404 });
      }
    },
    authorize(location) {
      const query = new URL(location).searchParams;
      const code = crypto.randomUUID();
      codes.set(code, query);
      const url = new URL(query.get("redirect_uri")!);
      const parameters = { code, state: query.get("state")!, ...provider.callback };
      for (const [name, value] of Object.entries(parameters)) {
        if (value !== undefined) url.searchParams.set(name, value);
      }
      return url;
    },
  };

  async function redeem(form: URLSearchParams, headers: Headers): Promise<Response> {
    if (form.get("grant_type") === "refresh_token") return refresh(form.get("refresh_token")!);
    const query = codes.get(form.get("code")!);
    codes.delete(form.get("code")!);
    const basic = `Basic ${btoa("trivet:s%3Ae%25c%2Br%26t")}`;
    const isAuthenticated = headers.get("authorization") === basic ||
      await provider.isSecret(form.get("client_secret"));
    const challenge = encodeBase64url(sha256(form.get("code_verifier") ?? ""));
    if (
      !query || !isAuthenticated || challenge !== query.get("code_challenge") ||
      form.get("redirect_uri") !== query.get("redirect_uri")
    ) return Response.json({ error: "invalid_grant" }, { status: 400 });
    const access_token = crypto.randomUUID();
    const seconds = Math.floor(Date.now() / 1000);
    const claims = {
      iss: issuer,
      aud: CLIENT.clientId,
      iat: seconds,
      exp: seconds + 300,
      nonce: query.get("nonce"),
      at_hash: encodeBase64url(sha256(access_token).subarray(0, 16)),
      ...(query.has("max_age") && { auth_time: seconds }),
      ...provider.claims,
      ...provider.idToken,
    };
    const id_token = await sign(provider.key, { typ: "JWT", kid: "first", ...provider.header }, claims);
    return Response.json({ access_token, token_type: "Bearer", id_token, ...provider.tokens });
  }

  /** Rotates. */
  function refresh(refresh_token: string): Response {
    if (!provider.refreshTokens.delete(refresh_token)) {
      return Response.json({ error: "invalid_grant" }, { status: 400 });
    }
    const next = crypto.randomUUID();
    provider.refreshTokens.add(next);
    return Response.json({
      access_token: `fresh ${crypto.randomUUID()}`,
      token_type: "Bearer",
      expires_in: 3600,
      refresh_token: next,
    });
  }
  return provider;
}

/** A server whose users sign in at a provider. */
export function newSignInServer(
  provider: Pick<TestProvider, "fetch">,
  signIn: readonly SignInProvider[] = [oidc({ issuer: PROVIDER, ...CLIENT })],
): Promise<TestServer> {
  return newServer({ signIn, signInFetch: (url, init) => provider.fetch(url, init) });
}

/** A browser at a server: it keeps cookies and follows no redirect. */
export interface TestBrowser {
  get(url: string): Promise<Response>;
  /** Sends a form of the same site. */
  post(url: string, form: Record<string, string>): Promise<Response>;
}

export function newBrowser(server: TestServer): TestBrowser {
  const cookies = new Map<string, string>();
  async function send(url: string, site: string, form?: Record<string, string>): Promise<Response> {
    const { pathname, search } = new URL(url, "https://as.example");
    const cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
    const headers = { "sec-fetch-site": site, ...(cookie && { cookie }) };
    const response = await server.send(pathname + search, { headers, ...(form && { form }) });
    for (const field of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(field)!;
      if (/Max-Age=0(;|$)/.test(field)) cookies.delete(name!);
      else cookies.set(name!, value!);
    }
    return response;
  }

  return {
    get: (url) => send(url, "none"),
    post: (url, form) => send(url, "same-origin", form),
  };
}

/** Begins at the login page's link and goes to the provider; the callback's response. */
export async function signIn(
  browser: TestBrowser,
  provider: TestProvider,
  path = "/login/oidc?redirect=%2Fdevice",
): Promise<Response> {
  const begun = await browser.get(path);
  return await browser.get(provider.authorize(begun.headers.get("location")!).href);
}
