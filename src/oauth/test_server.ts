/**
 * A small authorization server on the memory store with a settable clock, and helpers that run its flows as the user
 * alice. Only tests import this.
 *
 * @module
 */
import { soleSecret } from "../crypto/server_secrets.ts";
import type { TrivetEvent } from "../events.ts";
import { memoryStore } from "../store/drivers/memory.ts";
import type { Store } from "../store/store.ts";
import { toClient } from "./clients/client.ts";
import type { ClientRegistration } from "./clients/client_registration.ts";
import type { AuthorizationServerOptions } from "./authorization_server.ts";
import { EDITOR_SCHEMES } from "./clients/redirect_uri.ts";
import { completePages } from "./pages/settings.ts";
import { createOAuthService, type OAuthService } from "./service.ts";
import { completeSignUp } from "./sign_up/options.ts";
import { completePasswordPolicy } from "./users/password_policy.ts";
import { addRsaSigningKey } from "./test_keys.ts";
import { addUser } from "./users/user.ts";

export const ISSUER = "https://as.example";
/** Confidential, by domain; confidential, by URI; public, on loopback. */
export const CLIENTS: readonly ClientRegistration[] = [
  { id: "app", secret: "app secret:&%+", domain: "app.example", name: "The App" },
  { id: "web", secret: "web-secret", redirect_uris: ["https://web.example/cb"], scope: "read profile" },
  { id: "native", redirect_uris: ["http://127.0.0.1/callback"] },
  { id: "service", secret: "service-secret", scope: "read admin" },
];
const SECRETS = soleSecret(new Uint8Array(32).fill(7));
const ALICE = {
  username: "alice",
  password: "wonderland",
  name: "Alice Liddell",
  email: "alice@example.com",
};
export const APP_URI = "https://app.example/cb";
/** The example of RFC 7636, appendix B. */
export const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
export const CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

export interface TestServer {
  readonly service: OAuthService;
  readonly store: Store;
  readonly events: TrivetEvent[];
  /**
   * Its clock, in milliseconds since 1970: it stands still but for `advance` and a millisecond with each request, so that
   * limits and lifetimes do not depend on how long a test takes.
   */
  now(): number;
  advance(seconds: number): void;
  /** Sends a request to a path; with `form` it is a POST. */
  send(path: string, options?: SendOptions): Promise<Response>;
  /** The `Cookie` value of a fresh login as alice. */
  signIn(): Promise<string>;
  /** The query of `/oauth/authorize` for these parameters, over the usual ones of the client "app". */
  authorizePath(parameters?: Record<string, string | undefined>): string;
  /** Signs in, sends an authorization request and consents; the parameters that the redirect URI receives. */
  authorize(parameters?: Record<string, string | undefined>): Promise<URLSearchParams>;
  /** Posts to the token endpoint as the client "app", unless the form says otherwise. */
  token(form: Record<string, string | undefined>, headers?: Record<string, string>): Promise<Response>;
  /** Runs the whole code flow; the token response. */
  tokens(parameters?: Record<string, string | undefined>): Promise<Record<string, string>>;
}

interface SendOptions {
  readonly method?: string;
  readonly form?: Record<string, string | undefined> | string;
  readonly headers?: Record<string, string>;
}

export async function newServer(options: Partial<AuthorizationServerOptions> = {}): Promise<TestServer> {
  let offset = 0;
  const start = Date.now();
  const now = (): number => start + offset;
  const store = options.store ?? memoryStore({ now });
  const events: TrivetEvent[] = [];
  const oauth = createOAuthService({
    issuer: ISSUER,
    store,
    clients: CLIENTS.map((client) => toClient(client, 0)),
    trustedClients: new Set(),
    scopes: {
      profile: "See your name",
      read: "Read your data",
      write: "Change your data",
      admin: "Everything",
    },
    resources: [{ resource: ISSUER }, { resource: `${ISSUER}/mcp`, name: "the tools" }],
    accessTokenFormat: "opaque",
    accessTokenLifetime: 7200,
    refreshTokenLifetime: 604_800,
    refreshRetryGrace: 30,
    codeLifetime: 60,
    grantLifetime: 90 * 86_400,
    pushedRequestLifetime: 600,
    deviceCodeLifetime: 600,
    sessionLifetime: 3600,
    sessionIdleLifetime: 1800,
    consentLifetime: 365 * 86_400,
    signingAlgorithms: ["ES256"],
    signingKeyLifetime: 90 * 86_400,
    signingKeyNotice: 86_400,
    registration: "open",
    registrationLifetime: 30 * 86_400,
    clientMetadataDocuments: () => true,
    redirectSchemes: EDITOR_SCHEMES,
    securityProfile: undefined,
    requirePushedRequests: false,
    requestObjects: "off",
    responseModes: [],
    requireDpopNonce: false,
    trustedIssuers: [],
    authorizationDetailTypes: {},
    certificateProxy: undefined,
    authenticateUser: undefined,
    signIn: [],
    storedProviders: false,
    passwordLogin: true,
    passwordPolicy: completePasswordPolicy(),
    sendMail: undefined,
    signUp: completeSignUp({}),
    loginFields: [],
    account: true,
    signInFetch: undefined,
    acrValues: ["password"],
    factors: { passkeys: undefined, totp: true, acr: "mfa", hasAccount: true },
    openid: undefined,
    defaultRole: "reader",
    connect: () => Promise.reject(new Error("unexpected fetch")),
    secret: () => SECRETS,
    passwordIterations: 1000,
    pages: completePages(),
    observe: (event) => events.push(event),
    now,
    ...options,
  });
  if (options.signingAlgorithms?.includes("RS256") && !options.store) {
    await addRsaSigningKey(store, (options.now ?? now)());
  }
  // A second instance on the same store finds the user there.
  await addUser(store, ALICE, 1000).catch((error) => {
    if (!/taken/.test(String(error))) throw error;
  });
  const issuer = options.issuer ?? ISSUER;
  const service: OAuthService = {
    ...oauth,
    fetch(request, context) {
      offset++;
      return oauth.fetch(request, context);
    },
  };

  const server: TestServer = {
    service,
    store,
    events,
    now: options.now ?? now,
    advance: (seconds) => void (offset += seconds * 1000),
    send(path, { method, form, headers = {} } = {}) {
      const url = path.startsWith("/") ? new URL(issuer).origin + path : path;
      const body = form === undefined || typeof form === "string" ? form : encode(form);
      const type = body === undefined ? undefined : { "content-type": "application/x-www-form-urlencoded" };
      return service.fetch(
        new Request(url, {
          method: method ?? (body === undefined ? "GET" : "POST"),
          headers: { ...type, ...headers },
          ...(body !== undefined && { body }),
        }),
      );
    },
    async signIn() {
      const response = await server.send("/login", { form: { username: "alice", password: "wonderland" } });
      return response.headers.get("set-cookie")!.split(";")[0]!;
    },
    authorizePath: (parameters = {}) =>
      "/oauth/authorize?" + encode({
        response_type: "code",
        client_id: "app",
        redirect_uri: APP_URI,
        scope: "read",
        state: "xyz",
        ...parameters,
      }),
    async authorize(parameters) {
      const cookie = await server.signIn();
      const page = await server.send(server.authorizePath(parameters), { headers: { cookie } });
      // With remembered consent there is no page.
      if (page.status === 302) return new URL(page.headers.get("location")!).searchParams;
      const transaction = transactionOf(await page.text());
      const form = { transaction, decision: "approve" };
      const response = await server.send("/oauth/authorize", { form, headers: { cookie } });
      return new URL(response.headers.get("location")!).searchParams;
    },
    token: (form, headers = {}) =>
      server.send("/oauth/token", {
        form: { client_id: "app", client_secret: "app secret:&%+", ...form },
        headers,
      }),
    async tokens(parameters) {
      const code = (await server.authorize(parameters)).get("code")!;
      const form = { grant_type: "authorization_code", code, redirect_uri: APP_URI };
      return await (await server.token(form)).json();
    },
  };
  return server;
}

/** The one-time token of a consent page. @throws {Error} when the page has none */
export function transactionOf(page: string): string {
  const transaction = /name="transaction" value="([^"]+)"/.exec(page)?.[1];
  if (transaction === undefined) throw new Error("Not a consent page: " + page.slice(0, 500));
  return transaction;
}

function encode(form: Record<string, string | undefined>): string {
  const given = Object.entries(form).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return new URLSearchParams(given).toString();
}
