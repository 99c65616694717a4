/**
 * Trivet as a target in this process: every service, on the memory store, with a clock that is moved by hand. What is
 * registered stands in `trivet.json`, beside it, so that vectors and server read one list.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { everything } from "../../fixtures/everything/everything.ts";
import { secretDigest } from "../../src/crypto/secret.ts";
import {
  addUser,
  type ClientRegistration,
  createTrivet,
  type Definition,
  memoryStore,
  type Store,
  tool,
  type Trivet,
} from "../../src/mod.ts";
import { skillFolder } from "../../src/runtime/skill_folder.ts";
import { apiKeyKey } from "../../src/skills/records.ts";
import type { ModuleTarget } from "../runner/target_file.ts";
import { exampleMethods } from "./example_methods.ts";

interface Registered {
  readonly id: string;
  readonly name?: string;
  readonly secret?: string;
  /** A client that proves itself with a key. */
  readonly private?: JsonWebKey;
  readonly redirect_uri?: string;
  readonly second_redirect_uri?: string;
}

const described: {
  readonly vars: {
    readonly clients: Readonly<Record<string, Registered>>;
    readonly users: Readonly<Record<string, { readonly name: string; readonly password: string }>>;
    readonly keys: Readonly<Record<string, string>>;
    readonly mcp: { readonly scoped_tool: string; readonly missing_scope: string };
  };
} = JSON.parse(readFileSync(fileURLToPath(new URL("trivet.json", import.meta.url)), "utf8"));

/** What a client may do beyond what follows from its secret and redirect URIs. */
const MORE: Readonly<Record<string, Partial<ClientRegistration>>> = {
  service: { scope: "profile read", grant_types: ["client_credentials"] },
  code_only: { grant_types: ["authorization_code"] },
  assertion: { grant_types: ["client_credentials"] },
  no_code: { grant_types: ["client_credentials"] },
};

/** What a token with the scopes of `service` may not call. */
const NEEDS_SCOPE: Definition = tool({
  name: described.vars.mcp.scoped_tool,
  description: "Needs a scope",
  scopes: [described.vars.mcp.missing_scope],
  run: () => "It was called",
});

/** Workspace and scopes of each API key. */
const KEYS: Readonly<Record<string, readonly [workspace: string, scopes: readonly string[]]>> = {
  writer: ["default", ["skills:read", "skills:write"]],
  reader: ["default", ["skills:read"]],
  nobody: ["default", []],
  stranger: ["other", ["skills:read", "skills:write"]],
};

export interface StartOptions {
  /** @default https://trivet.example */
  readonly base?: string;
  /** A store for each world: the first, and one after each reset. @default memory */
  readonly openStore?: (now: () => number) => Promise<Store>;
  /** Whether bearer tokens alone mean OpenAI's dialect of the Skills API. */
  readonly openai?: boolean;
}

export async function start(
  { base = "https://trivet.example", openStore, openai = false }: StartOptions = {},
): Promise<ModuleTarget & Required<Pick<ModuleTarget, "fetch">>> {
  let offset = 0;
  const now = (): number => Date.now() + offset;
  let world = await newWorld(base, now, openStore, openai);
  return {
    base,
    fetch: (request) =>
      new URL(request.url).pathname === "/rpc" ? exampleMethods(request) : world.trivet.fetch(request),
    procedures: {
      advance: ({ seconds }) => void (offset += Number(seconds) * 1000),
      async reset() {
        await world.store.close();
        world = await newWorld(base, now, openStore, openai);
      },
    },
    close: () => world.store.close(),
  };
}

async function newWorld(
  base: string,
  now: () => number,
  openStore: StartOptions["openStore"],
  openai: boolean,
): Promise<{ readonly trivet: Trivet; readonly store: Store }> {
  const store = await openStore?.(now) ?? memoryStore({ now });
  for (const { name: username, password } of Object.values(described.vars.users)) {
    await addUser(store, { username, password }, 1000);
  }
  for (const [name, secret] of Object.entries(described.vars.keys)) {
    const [workspace, scopes] = KEYS[name]!;
    const value = { id: `key_${name}`, name, workspace, scopes, created: now() };
    await store.commit({ set: [{ key: apiKeyKey(secretDigest(secret)), value }] });
  }
  const trivet: Trivet = createTrivet({
    issuer: base,
    store,
    now,
    oauth: { clients: Object.entries(described.vars.clients).map(toRegistration), passwordIterations: 1000 },
    skills: {
      openai,
      discovery: {},
      folders: [skillFolder(fileURLToPath(new URL("../../fixtures/skills", import.meta.url)))],
    },
    mcp: {
      auth: "required",
      initialScope: "profile",
      pageSize: 25,
      definitions: [...everything(() => trivet.mcp!), NEEDS_SCOPE],
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
