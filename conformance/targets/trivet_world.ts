/**
 * Trivet with what `trivet.json` describes: every service, a clock that is moved by hand, and a new world after each reset.
 * Nothing here needs a runtime: `trivet.ts` reads the files that this wants, and a Worker is given them in its bundle.
 *
 * @module
 */
import { everything } from "../../fixtures/everything/everything.ts";
import { secretDigest } from "../../src/crypto/secret.ts";
import {
  addUser,
  type AuthorizationDetailType,
  type ClientRegistration,
  createTrivet,
  memoryStore,
  type RequestContext,
  type Store,
  type Trivet,
} from "../../src/mod.ts";
import type { SkillFolder } from "../../src/skills/local/folder.ts";
import { apiKeyKey } from "../../src/skills/records.ts";
import type { ModuleTarget } from "../runner/target/target_description.ts";
import { exampleMethods } from "./example_methods.ts";
import { type ToolNames, vectorTools } from "./trivet_tools.ts";

interface Registered {
  readonly id: string;
  readonly name?: string;
  readonly secret?: string;
  /** A client that proves itself with a key. */
  readonly private?: JsonWebKey;
  readonly redirect_uri?: string;
  readonly second_redirect_uri?: string;
}

/** What stands in `trivet.json` and is registered here, so that vectors and server read one list. */
export interface Described {
  readonly vars: {
    readonly clients: Readonly<Record<string, Registered>>;
    readonly users: Readonly<Record<string, { readonly name: string; readonly password: string }>>;
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

/** What a client may do beyond what follows from its secret and redirect URIs. */
const MORE: Readonly<Record<string, Partial<ClientRegistration>>> = {
  service: { scope: "profile read", grant_types: ["client_credentials"] },
  code_only: { grant_types: ["authorization_code"] },
  assertion: { grant_types: ["authorization_code", "client_credentials"] },
  device: { grant_types: [DEVICE] },
  device_other: { grant_types: [DEVICE] },
  device_with_secret: { grant_types: [DEVICE] },
  dpop_bound: { dpop_bound_access_tokens: true },
  exchanger: { grant_types: ["urn:ietf:params:oauth:grant-type:token-exchange"] },
  jwt: { access_token_format: "jwt" },
  pushing: { require_pushed_authorization_requests: true },
  no_code: { grant_types: ["client_credentials"] },
};

/** Workspace and scopes of each API key. */
const KEYS: Readonly<Record<string, readonly [workspace: string, scopes: readonly string[]]>> = {
  writer: ["default", ["skills:read", "skills:write"]],
  reader: ["default", ["skills:read"]],
  nobody: ["default", []],
  stranger: ["other", ["skills:read", "skills:write"]],
};

/** On loopback pages of other sites get nothing; these are the ones that vectors say may read what is public. */
export const PAGE_ORIGINS: readonly string[] = ["https://page.example", "https://spa.example"];

export interface WorldOptions {
  readonly described: Described;
  /** The folder of skills that is served beside those that are uploaded. */
  readonly folder: SkillFolder;
  /** @default https://trivet.example */
  readonly base?: string;
  /** A store for each world: the first, and one after each reset. @default memory */
  readonly openStore?: (now: () => number) => Promise<Store>;
  /** Whether bearer tokens alone mean OpenAI's dialect of the Skills API. */
  readonly openai?: boolean;
  /** Origins beside its own whose pages may call it, where it is on loopback. */
  readonly allowedOrigins?: readonly string[];
  /** Whether DPoP proofs must hold a nonce. */
  readonly dpopNonce?: boolean;
}

/** A target in this process. */
export interface TrivetTarget extends ModuleTarget {
  readonly fetch: (request: Request, context?: RequestContext) => Response | Promise<Response>;
  readonly close: () => Promise<void>;
}

export async function startWorlds(options: WorldOptions): Promise<TrivetTarget> {
  const base = options.base ?? "https://trivet.example";
  let offset = 0;
  const now = (): number => Date.now() + offset;
  let world = await newWorld(options, base, now);
  return {
    base,
    fetch: (request, context) =>
      new URL(request.url).pathname === "/rpc"
        ? exampleMethods(request)
        : world.trivet.fetch(request, context),
    procedures: {
      advance: ({ seconds }) => void (offset += Number(seconds) * 1000),
      async reset() {
        await world.store.close();
        world = await newWorld(options, base, now);
      },
    },
    close: () => world.store.close(),
  };
}

/**
 * The target as a handler that a server can serve: `POST /control/advance` with `{ "seconds": n }` moves its clock,
 * `POST /control/reset` begins anew.
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

async function newWorld(
  { described: { vars }, folder, openStore, allowedOrigins = [], openai = false, dpopNonce = false }:
    WorldOptions,
  base: string,
  now: () => number,
): Promise<{ readonly trivet: Trivet; readonly store: Store }> {
  const store = await openStore?.(now) ?? memoryStore({ now });
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
    oauth: {
      clients: Object.entries(vars.clients).map(toRegistration),
      passwordIterations: 1000,
      requireDpopNonce: dpopNonce,
      authorizationDetailTypes: { payment: PAYMENT },
    },
    skills: { openai, discovery: {}, folders: [folder] },
    mcp: {
      auth: "required",
      allowedOrigins,
      initialScope: "profile",
      pageSize: 25,
      sse: true,
      definitions: [...everything(() => trivet.mcp!), ...vectorTools(vars.mcp)],
    },
  });
  return { trivet, store };
}

function toRegistration([name, client]: [string, Registered]): ClientRegistration {
  const { id, name: shown, secret, private: key, redirect_uri, second_redirect_uri } = client;
  const { d: _, ...publicKey } = key ?? {};
  const uris = [redirect_uri, second_redirect_uri].filter((uri) => uri !== undefined);
  return {
    id,
    name: shown,
    secret,
    ...(key && { jwks: { keys: [publicKey] } }),
    ...(uris.length > 0 && { redirect_uris: uris }),
    ...MORE[name],
  };
}
