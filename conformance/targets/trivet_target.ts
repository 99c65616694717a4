/**
 * Trivet with the clients, users and keys of `trivet.json`: every service, an adjustable clock, and a new instance after
 * each reset. Portable: `trivet.ts` reads the files, and a Worker has them in its bundle.
 *
 * @module
 */
import { everything } from "../../fixtures/everything/everything.ts";
import type { PublicJwk } from "../../src/crypto/jwk.ts";
import { secretDigest } from "../../src/crypto/secret.ts";
import {
  addUser,
  type AuthorizationDetailType,
  type ClientRegistration,
  createTrivet,
  memoryStore,
  type ProtectOptions,
  type RequestContext,
  type Store,
  type Trivet,
  type TrustedIssuer,
} from "../../src/mod.ts";
import { addRsaSigningKey } from "../../src/oauth/test_keys.ts";
import type { ServerOptions } from "../../src/options/server_options.ts";
import type { SkillFolder } from "../../src/skills/local/folder.ts";
import { apiKeyKey } from "../../src/skills/records.ts";
import type { ModuleTarget } from "../runner/target/target_description.ts";
import { exampleMethods } from "./example_methods.ts";
import { type ToolNames, vectorTools } from "./trivet_tools.ts";

interface TargetClient {
  readonly id: string;
  readonly name?: string;
  readonly secret?: string;
  /** Private key of a client that authenticates with it. */
  readonly private?: JsonWebKey;
  readonly redirect_uri?: string;
  readonly second_redirect_uri?: string;
  readonly post_logout_redirect_uri?: string;
}

interface IdentityProvider {
  readonly issuer: string;
  readonly subject: string;
  readonly private: PublicJwk;
}

/** The part of `trivet.json` that is registered, so that vectors and server use one list. */
export interface RegisteredData {
  readonly vars: {
    readonly clients: Readonly<Record<string, TargetClient>>;
    readonly users: Readonly<Record<string, { readonly name: string; readonly password: string }>>;
    readonly certificates: { readonly one: { readonly public: PublicJwk } };
    readonly idp: IdentityProvider;
    /** Its assertions are ID-JAGs only. */
    readonly enterprise: IdentityProvider;
    readonly keys: Readonly<Record<string, string>>;
    readonly mcp: ToolNames;
  };
}

/** A type of `authorization_details` (RFC 9396). */
const PAYMENT: AuthorizationDetailType = {
  check: ({ amount }) =>
    typeof amount === "number" && amount > 0 ? undefined : "amount must be a number over 0",
  describe: ({ amount, to }) => `Pay ${amount} to ${to}`,
};

const DEVICE = "urn:ietf:params:oauth:grant-type:device_code";

/** Metadata of clients beyond what follows from their secret and redirect URIs. */
const CLIENT_METADATA: Readonly<Record<string, Partial<ClientRegistration>>> = {
  service: { scope: "profile read", grant_types: ["client_credentials"] },
  code_only: { grant_types: ["authorization_code"] },
  tls: {
    token_endpoint_auth_method: "self_signed_tls_client_auth",
    tls_client_certificate_bound_access_tokens: true,
  },
  bearer: { grant_types: ["urn:ietf:params:oauth:grant-type:jwt-bearer"] },
  assertion: { grant_types: ["authorization_code", "client_credentials"] },
  signing: { grant_types: ["authorization_code"], require_signed_request_object: true },
  device: { grant_types: [DEVICE] },
  device_other: { grant_types: [DEVICE] },
  device_with_secret: { grant_types: [DEVICE] },
  dpop_bound: { dpop_bound_access_tokens: true },
  exchanger: { grant_types: ["urn:ietf:params:oauth:grant-type:token-exchange"] },
  jwt: { access_token_format: "jwt" },
  pushing: { require_pushed_authorization_requests: true },
  no_code: { grant_types: ["client_credentials"] },
};

const FAPI_GRANTS = ["authorization_code", "refresh_token", "client_credentials"] as const;

/** The address from which certificates are accepted: the vectors play the proxy that terminates TLS. */
const PROXY = "127.0.0.1";

/** Workspace and scopes of each API key. */
const KEYS: Readonly<Record<string, readonly [workspace: string, scopes: readonly string[]]>> = {
  writer: ["default", ["skills:read", "skills:write"]],
  reader: ["default", ["skills:read"]],
  no_scopes: ["default", []],
  stranger: ["other", ["skills:read", "skills:write"]],
};

/** The login that each of these resources requires (RFC 9470). */
const REQUIRED_LOGINS: Readonly<Record<string, ProtectOptions>> = {
  "/recent-login": { maxAge: 300 },
  "/strong-login": { acrValues: ["urn:example:two-factors"] },
};

/** Origins of other sites that may read public responses on loopback, as the vectors expect. */
export const ALLOWED_PAGE_ORIGINS: readonly string[] = ["https://page.example", "https://spa.example"];

export interface TargetOptions {
  readonly registered: RegisteredData;
  /** The folder of skills to serve beside uploaded ones. */
  readonly folder: SkillFolder;
  /** @default https://trivet.example */
  readonly base?: string;
  /** Opens a store at the start and after each reset. @default memory */
  readonly openStore?: (now: () => number) => Promise<Store>;
  /** What observes each instance. */
  readonly observers?: Pick<ServerOptions, "onEvent" | "onRequest" | "requestId" | "telemetry">;
  /** Whether requests with only a bearer token use OpenAI's dialect of the Skills API. */
  readonly openai?: boolean;
  /** Other origins that may call it on loopback. */
  readonly allowedOrigins?: readonly string[];
  /** Whether DPoP proofs must contain a nonce. */
  readonly dpopNonce?: boolean;
  /** Whether the server has the FAPI 2.0 Security Profile. Then clients with secrets and public clients are left out. */
  readonly fapi?: boolean;
  /** Whether it is an OpenID Provider. @default without the profile */
  readonly openid?: boolean;
}

/** A target in this process. */
export interface TrivetTarget extends ModuleTarget {
  readonly fetch: (request: Request, context?: RequestContext) => Response | Promise<Response>;
  readonly close: () => Promise<void>;
}

export async function startTarget(options: TargetOptions): Promise<TrivetTarget> {
  const base = options.base ?? "https://trivet.example";
  let offset = 0;
  const now = (): number => Date.now() + offset;
  let instance = await createInstance(options, base, now);
  return {
    base,
    fetch: (request, context) => {
      const { pathname } = new URL(request.url);
      const login = REQUIRED_LOGINS[pathname];
      if (login) return requireLogin(instance.trivet, request, login);
      return pathname === "/rpc"
        ? exampleMethods(request)
        : instance.trivet.fetch(request, context?.ip === undefined ? { ...context, peer: PROXY } : context);
    },
    procedures: {
      advance: ({ seconds }) => void (offset += Number(seconds) * 1000),
      async reset() {
        await instance.store.close();
        instance = await createInstance(options, base, now);
      },
    },
    close: () => instance.store.close(),
  };
}

/**
 * Returns the target as a handler for a server: `POST /control/advance` with `{ "seconds": n }` advances its clock,
 * `POST /control/reset` starts a new instance.
 */
export function withControl(target: TrivetTarget): TrivetTarget["fetch"] {
  return async (request, context) => {
    const name = /^\/control\/([a-z]+)$/.exec(new URL(request.url).pathname)?.[1];
    if (name === undefined) return await target.fetch(request, context);
    const procedure = target.procedures?.[name];
    if (typeof procedure !== "function") return new Response(null, { status: 404 });
    await procedure(await request.json());
    return new Response(null, { status: 204 });
  };
}

async function createInstance(
  {
    registered: { vars },
    folder,
    openStore,
    observers,
    allowedOrigins = [],
    openai = false,
    dpopNonce = false,
    fapi = false,
    openid = !fapi,
  }: TargetOptions,
  base: string,
  now: () => number,
): Promise<{ readonly trivet: Trivet; readonly store: Store }> {
  const store = await openStore?.(now) ?? memoryStore({ now });
  if (openid && !fapi) await addRsaSigningKey(store, now());
  for (const { name: username, password } of Object.values(vars.users)) {
    await addUser(store, { username, password }, 1000);
  }
  for (const [name, secret] of Object.entries(vars.keys)) {
    const [workspace, scopes] = KEYS[name]!;
    const value = { id: `key_${name}`, name, workspace, scopes, created: now() };
    await store.commit({ set: [{ key: apiKeyKey(secretDigest(secret)), value }] });
  }
  const trivet: Trivet = createTrivet({
    issuer: base,
    store,
    now,
    ...observers,
    oauth: {
      clients: Object.entries(vars.clients)
        .filter(([name, { private: key }]) => !fapi || name === "tls" || key !== undefined)
        .map((each) => toRegistration(each, vars.certificates.one.public))
        .map((client) => fapi ? { ...client, grant_types: FAPI_GRANTS } : client),
      ...(fapi && { securityProfile: "fapi-2.0" as const }),
      passwordIterations: 1000,
      openid,
      requireDpopNonce: dpopNonce,
      requestObjects: "optional",
      responseModes: ["form_post", "jwt"],
      authorizationDetailTypes: { payment: PAYMENT },
      trustedIssuers: [toIssuer(vars.idp), { ...toIssuer(vars.enterprise), requireIdJag: true }],
      certificateProxy: { addresses: [PROXY], certificateField: "client-cert" },
    },
    skills: { openai, discovery: {}, folders: [folder] },
    mcp: {
      auth: "required",
      allowedOrigins,
      initialScope: "profile",
      pageSize: 25,
      sse: true,
      definitions: [...vectorTools(vars.mcp), ...everything(() => trivet.mcp!)],
    },
  });
  return { trivet, store };
}

/** An identity provider that the vectors play, with one user. */
function toIssuer({ issuer, subject, private: key }: IdentityProvider): TrustedIssuer {
  const { d: _, ...publicKey } = key as PublicJwk & { readonly d: string };
  const user = { id: subject, name: subject, email: "" };
  return {
    issuer,
    jwks: { keys: [publicKey] },
    user: ({ sub }: Readonly<Record<string, unknown>>) => Promise.resolve(sub === subject ? user : undefined),
  };
}

async function requireLogin(trivet: Trivet, request: Request, options: ProtectOptions): Promise<Response> {
  const caller = await trivet.protect(request, options);
  return caller instanceof Response ? caller : Response.json({ subject: caller.subject });
}

function toRegistration([name, client]: [string, TargetClient], certified: PublicJwk): ClientRegistration {
  const { id, name: displayName, secret, private: key, redirect_uri, second_redirect_uri } = client;
  const { post_logout_redirect_uri } = client;
  const { d: _, ...publicKey } = key ?? {};
  const uris = [redirect_uri, second_redirect_uri].filter((uri) => uri !== undefined);
  return {
    id,
    name: displayName,
    secret,
    ...(key && { jwks: { keys: [publicKey] } }),
    ...(name === "tls" && { jwks: { keys: [certified] } }),
    ...(uris.length > 0 && { redirect_uris: uris }),
    ...(post_logout_redirect_uri !== undefined && { post_logout_redirect_uris: [post_logout_redirect_uri] }),
    ...CLIENT_METADATA[name],
  };
}
