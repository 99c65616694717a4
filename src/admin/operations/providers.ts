/**
 * Operations on the identity providers in the store.
 *
 * @module
 */
import { providerKey, type StoredProvider } from "../../oauth/records/provider_record.ts";
import { endProviderTokens } from "../../oauth/sign_in/provider_tokens.ts";
import { checkProvider } from "../../oauth/sign_in/check_provider.ts";
import {
  addProvider as add,
  createSecretSealer,
  PROVIDER_KINDS,
  type ProviderChanges,
  type ProviderRegistration,
  removeProvider as remove,
  updateProvider as update,
} from "../../oauth/sign_in/stored_provider.ts";
import type { Entry } from "../../store/store.ts";
import { createSearch, listPage, type Page, pageInput, pageOf, type PageQuery } from "../list_page.ts";
import {
  type AdminContext,
  AdminError,
  type AdminOperation,
  checkScopes,
  notFound,
  refuseInvalid,
  type Schema,
  toIso,
} from "../operation.ts";
import { allOrNull, flag, input, mapOf, object, oneOf, orNull, text, texts, time } from "../schema.ts";

/** A provider in an answer: what is set, and what the server knows. */
export interface AdminProvider {
  readonly id: string;
  readonly kind: StoredProvider["kind"];
  readonly client_id: string;
  readonly has_secret: boolean;
  readonly redirect_uri: string;
  readonly added: string;
  readonly name?: string;
  readonly issuer?: string;
  readonly tenant?: string;
  readonly domains?: readonly string[];
  readonly groups?: readonly string[];
  readonly roles?: StoredProvider["roles"];
  readonly scopes?: StoredProvider["scopes"];
  readonly groups_claim?: string;
  readonly keep_tokens?: boolean;
  readonly team_id?: string;
  readonly key_id?: string;
}

/** The members of the API, and those of the registration that they set. */
const MEMBERS: Readonly<Record<string, keyof ProviderRegistration>> = {
  id: "id",
  kind: "kind",
  name: "name",
  client_id: "clientId",
  client_secret: "clientSecret",
  issuer: "issuer",
  tenant: "tenant",
  domains: "domains",
  groups: "groups",
  roles: "roles",
  scopes: "scopes",
  groups_claim: "groupsClaim",
  keep_tokens: "keepTokens",
  team_id: "teamId",
  key_id: "keyId",
};

/** The settings in a request. */
export type ProviderSettingsInput = Readonly<Record<string, unknown>>;

const PROVIDER: Schema = text("the id of the provider", { min: 1, max: 256 });
const SECRET = text("the client secret; of Apple the content of its .p8 file", { min: 1, max: 8192 });
const GROUPS: Schema = texts("groups at the provider");
const CLIENT_ID: Schema = text("the client id that the provider gave you", { min: 1 });
const SETTINGS: Readonly<Record<string, Schema>> = {
  name: text("the name on the button", { min: 1, max: 256 }),
  issuer: text("the issuer of an OpenID Provider; the address of a GitHub Enterprise Server", { max: 2048 }),
  tenant: text("the directory of Entra, or organizations, consumers, common"),
  domains: texts("admits users with a verified address of these domains; of Google the hosted domains"),
  groups: texts("admits users of these groups, or organizations of GitHub"),
  roles: {
    type: "object",
    properties: { reader: GROUPS, author: GROUPS, admin: GROUPS },
    additionalProperties: false,
    description: "users of these groups have this role",
  },
  scopes: mapOf(GROUPS, "only users of these groups can allow applications this scope, whatever their role"),
  groups_claim: text("the claim with the groups, or a path to it such as realm_access.roles", { min: 1 }),
  keep_tokens: flag("keeps the provider's tokens, sealed, for programs that act for the user there"),
  team_id: text("the team of Apple"),
  key_id: text("the id of the key of Apple"),
};
const PROVIDER_OBJECT = object({
  id: text("the id"),
  kind: oneOf(PROVIDER_KINDS, "what it is"),
  client_id: CLIENT_ID,
  ...SETTINGS,
  has_secret: flag("whether it has a client secret"),
  redirect_uri: text("what you register at the provider", { max: 4096 }),
  added: time("when it was added"),
}, Object.keys(SETTINGS));

/** The path of a provider. */
export interface ProviderPath {
  readonly provider: string;
}

/** What `testProvider` found. */
export interface ProviderTest {
  readonly id: string;
  readonly works: boolean;
  readonly authorization_endpoint: string | null;
  readonly client: "accepted" | "refused" | "unknown" | null;
  readonly problem: string | null;
}

export const listProviders: AdminOperation<PageQuery, Page<AdminProvider>> = {
  name: "listProviders",
  method: "GET",
  path: "/providers",
  summary: "List the identity providers in the store",
  input: pageInput(),
  output: pageOf(PROVIDER_OBJECT),
  async run(context, query) {
    const read = ({ value }: Entry<StoredProvider>) => toAdminProvider(context, value);
    const isFound = createSearch<AdminProvider>(
      query.search,
      (
        { id, kind, name, client_id, issuer, domains = [] },
      ) => [id, kind, name, client_id, issuer, ...domains],
    );
    return await listPage(context.store, [{ prefix: ["provider"], read }], query, isFound);
  },
};

export const addProvider: AdminOperation<ProviderSettingsInput, AdminProvider> = {
  name: "addProvider",
  method: "POST",
  path: "/providers",
  summary: "Add an identity provider",
  input: input({
    kind: oneOf(PROVIDER_KINDS, "what it is"),
    id: text("part of the redirect URI; the kind when left out", { min: 1, max: 64 }),
    client_id: CLIENT_ID,
    client_secret: SECRET,
    ...SETTINGS,
  }, ["kind", "client_id"]),
  output: PROVIDER_OBJECT,
  subject: (_, { id }) => id,
  async run(context, settings) {
    const registration = toMembers(settings) as unknown as ProviderRegistration;
    checkScopes(context, Object.keys(registration.scopes ?? {}));
    const { id = registration.kind } = registration;
    const conflict = context.providers.providers.findConflict(id);
    if (conflict !== undefined) {
      throw new AdminError("conflict_error", `id: ${JSON.stringify(id)} ${conflict}`);
    }
    const sealer = createSecretSealer(context.providers.secret);
    const stored = await refuseInvalid(() => add(context.store, sealer, registration, { replace: false }));
    if (!stored) throw new AdminError("conflict_error", `id: ${JSON.stringify(id)} is taken`);
    return toAdminProvider(context, stored);
  },
};

export const showProvider: AdminOperation<ProviderPath, AdminProvider> = {
  name: "showProvider",
  method: "GET",
  path: "/providers/:provider",
  summary: "Show an identity provider",
  input: input({ provider: PROVIDER }, ["provider"]),
  output: PROVIDER_OBJECT,
  async run(context, { provider }) {
    return toAdminProvider(context, await getProvider(context, provider));
  },
};

export const updateProvider: AdminOperation<ProviderPath & ProviderSettingsInput, AdminProvider> = {
  name: "updateProvider",
  method: "PATCH",
  path: "/providers/:provider",
  summary:
    "Change the settings of an identity provider; null removes one. Another issuer, tenant or client id revokes its kept tokens",
  input: input({
    provider: PROVIDER,
    client_id: CLIENT_ID,
    ...allOrNull({ client_secret: SECRET, ...SETTINGS }),
  }, ["provider"]),
  output: PROVIDER_OBJECT,
  subject: ({ provider }) => provider,
  async run(context, { provider, ...settings }) {
    const sealer = createSecretSealer(context.providers.secret);
    const changes = toMembers(settings) as ProviderChanges;
    checkScopes(context, Object.keys(changes.scopes ?? {}));
    // As it was: its server is the one that can revoke the tokens.
    const before = await context.providers.providers.find(provider);
    const onMoved = () => endProviderTokens(context.providers, provider, before);
    const stored = await refuseInvalid(() => update(context.store, sealer, provider, changes, onMoved));
    if (!stored) throw notFound("Provider", provider);
    return toAdminProvider(context, stored);
  },
};

export const removeProvider: AdminOperation<ProviderPath, void> = {
  name: "removeProvider",
  method: "DELETE",
  path: "/providers/:provider",
  summary: "Remove an identity provider, and revoke its kept tokens; sessions and tokens of this server stay",
  input: input({ provider: PROVIDER }, ["provider"]),
  output: undefined,
  subject: ({ provider }) => provider,
  async run(context, { provider }) {
    await getProvider(context, provider);
    const before = await context.providers.providers.find(provider);
    // First its tokens: without the provider they cannot be revoked.
    await endProviderTokens(context.providers, provider, before);
    if (!await remove(context.store, provider)) throw notFound("Provider", provider);
    // Those of sign-ins that ended meanwhile.
    await endProviderTokens(context.providers, provider, before);
  },
};

export const testProvider: AdminOperation<ProviderPath, ProviderTest> = {
  name: "testProvider",
  method: "POST",
  path: "/providers/:provider/test",
  summary: "Ask an identity provider for its metadata, and whether it accepts the client id and secret",
  input: input({ provider: PROVIDER }, ["provider"]),
  output: object({
    id: text("the id"),
    works: flag("whether it answers and does not refuse the client"),
    authorization_endpoint: orNull(text("where users are sent", { max: 4096 })),
    client: orNull(oneOf(["accepted", "refused", "unknown"], "unknown: it shows at the first sign-in")),
    problem: orNull(text("what is wrong", { max: 4096 })),
  }),
  async run(context, { provider }) {
    const stored = await getProvider(context, provider);
    const failed = { id: stored.id, works: false, authorization_endpoint: null, client: null };
    const conflict = context.providers.providers.findConflict(stored.id);
    if (conflict !== undefined) {
      return { ...failed, problem: `No one can sign in with it: its id ${conflict}` };
    }
    try {
      const { authorization, client, code } = await checkProvider(context.providers, stored);
      return {
        id: stored.id,
        works: client !== "refused",
        authorization_endpoint: authorization,
        client,
        problem: client === "refused" ? `The provider refuses the client id or secret (${code})` : null,
      };
    } catch (error) {
      const found = error instanceof Error ? error.message.slice(0, 1000) : "The provider does not answer";
      const problem = `${found}. Check its issuer, and whether this server can reach it`;
      return { ...failed, problem };
    }
  },
};

/** The operations of this file. */
export const PROVIDER_OPERATIONS: readonly AdminOperation[] = [
  listProviders,
  addProvider,
  showProvider,
  updateProvider,
  removeProvider,
  testProvider,
];

async function getProvider({ store }: AdminContext, id: string): Promise<StoredProvider> {
  const stored = (await store.get<StoredProvider>(providerKey(id)))?.value;
  if (!stored) throw notFound("Provider", id);
  return stored;
}

function toMembers(settings: ProviderSettingsInput): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [MEMBERS[name]!, value]),
  );
}

function toAdminProvider({ issuer }: AdminContext, stored: StoredProvider): AdminProvider {
  const { sealedSecret, added } = stored;
  const settings = Object.entries(MEMBERS).flatMap(([name, member]) => {
    const value = member === "clientSecret" ? undefined : stored[member];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(settings) as unknown as Pick<AdminProvider, "id" | "kind" | "client_id">,
    has_secret: sealedSecret !== undefined,
    redirect_uri: `${issuer.replace(/\/$/, "")}/login/${stored.id}/callback`,
    added: toIso(added),
  };
}
