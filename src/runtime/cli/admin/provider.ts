/**
 * `trivet provider`: the identity providers at which users sign in.
 *
 * @module
 */
import { providerKey, type StoredProvider } from "../../../oauth/records.ts";
import { endProviderTokens } from "../../../oauth/sign_in/provider_tokens.ts";
import {
  addProvider,
  listProviders,
  PROVIDER_KINDS,
  type ProviderChanges,
  removeProvider,
  updateProvider,
} from "../../../oauth/sign_in/stored_provider.ts";
import { checkProvider } from "../../../oauth/sign_in/check_provider.ts";
import { USER_ROLES } from "../../../oauth/users/user_role.ts";
import type { Store } from "../../../store/store.ts";
import type { ValuesOf } from "../options.ts";
import { formatTime, printLine, printPairs, printTable, UsageError } from "../output.ts";
import { providerAccess, sealerOf } from "./provider_access.ts";
import { readSecretFromStdin } from "./secret_input.ts";
import { describeActions, runAction, type StoreAction, storeAction } from "./store_action.ts";

const ID_OPTION = {
  id: { value: "ID", summary: "part of the redirect URI, ISSUER/login/ID/callback", shownDefault: "KIND" },
} as const;
const SETTINGS_OPTIONS = {
  name: { value: "NAME", summary: "the name on the button", shownDefault: "the provider's" },
  "client-id": { value: "ID", summary: "the client id that the provider gave you" },
  "secret-stdin": { summary: "read the client secret from standard input" },
  issuer: {
    value: "URL",
    summary: "the issuer of an OpenID Provider; the address of a GitHub Enterprise Server",
  },
  tenant: { value: "ID", summary: "the directory of Entra, or organizations, consumers, common" },
  domain: {
    value: "DOMAIN",
    isRepeatable: true,
    summary: "admit users with a verified e-mail address of this domain (of Google: a hosted domain)",
    shownDefault: "any",
  },
  group: {
    value: "GROUP",
    isRepeatable: true,
    summary: "admit users of this group, or organization of GitHub",
    shownDefault: "any",
  },
  role: {
    value: "ROLE=GROUP",
    isRepeatable: true,
    summary: "users of this group have this role: reader, author or admin",
    parse: (text: string) => {
      const [role, group] = text.split(/=(.*)/s);
      const known = USER_ROLES.find((each) => each === role);
      return known && group ? { role: known, group } : undefined;
    },
    expected: "ROLE=GROUP",
  },
  "scope-group": {
    value: "SCOPE=GROUP",
    isRepeatable: true,
    summary: "only users of this group can allow applications this scope, whatever their role",
    parse: (text: string) => {
      const [scope, group] = text.split(/=(.*)/s);
      return scope && group ? { scope, group } : undefined;
    },
    expected: "SCOPE=GROUP",
  },
  "groups-claim": {
    value: "CLAIM",
    summary: "the claim with the groups, or a path to it such as realm_access.roles",
    shownDefault: "groups",
  },
  "keep-tokens": { summary: "keep the provider's tokens, sealed, for programs that act for the user there" },
  "team-id": { value: "ID", summary: "the team of Apple" },
  "key-id": { value: "ID", summary: "the id of the key of Apple; the .p8 file is the secret" },
} as const;

/** What a test says of the client id and secret. */
const CLIENT_RESULTS = {
  accepted: "It accepts the client id and secret.",
  unknown: "Whether it accepts the client id and secret shows at the first sign-in.",
} as const;

/** What `--unset` removes, by the name of its option. */
const REMOVABLE = {
  name: "name",
  secret: "clientSecret",
  domain: "domains",
  group: "groups",
  role: "roles",
  "scope-group": "scopes",
  "groups-claim": "groupsClaim",
  "keep-tokens": "keepTokens",
} as const;
const UNSET_OPTION = {
  unset: {
    value: "OPTION",
    isRepeatable: true,
    words: Object.keys(REMOVABLE) as readonly (keyof typeof REMOVABLE)[],
    summary: `remove a setting: ${Object.keys(REMOVABLE).join(", ")}`,
  },
} as const;

const add: StoreAction = storeAction({
  operands: "KIND",
  summary: `adds a provider: ${PROVIDER_KINDS.join(", ")}`,
  options: { ...ID_OPTION, ...SETTINGS_OPTIONS },
  async run({ store, values, operands: [operand], json }) {
    const kind = PROVIDER_KINDS.find((each) => each === operand);
    if (!kind) throw new UsageError(`KIND must be one of ${PROVIDER_KINDS.join(", ")}`);
    const { clientId, ...settings } = await readSettings(values);
    if (clientId === undefined) throw new UsageError("missing option: --client-id");
    const stored = await addProvider(store, sealerOf(store), { kind, id: values.id, clientId, ...settings });
    if (json) return printLine(JSON.stringify(toShown(stored)));
    printLine(`provider      ${stored.id}`);
    printLine(`redirect URI  ISSUER/login/${stored.id}/callback   (register it at the provider)`);
  },
});

const list: StoreAction = storeAction({
  operands: "",
  summary: "lists all providers",
  options: {},
  async run({ store, json }) {
    const providers = (await Array.fromAsync(listProviders(store))).map(toShown);
    if (json) return printLine(JSON.stringify(providers));
    printTable(
      ["ID", "KIND", "NAME", "CLIENT", "ADMITS"],
      providers.map(({ id, kind, name, clientId, domains, groups }) => [
        id,
        kind,
        name ?? "-",
        clientId,
        [...domains ?? [], ...groups ?? []].join(" ") || "all its users",
      ]),
    );
  },
});

const show: StoreAction = storeAction({
  operands: "ID",
  summary: "shows the settings of a provider",
  options: {},
  async run({ store, operands: [id], json }) {
    const stored = await getProvider(store, id!);
    const { added, roles, scopes, ...shown } = toShown(stored);
    const has_secret = stored.sealedSecret !== undefined;
    if (json) return printLine(JSON.stringify({ ...toShown(stored), has_secret }));
    printPairs([
      ...Object.entries(shown).map(([name, value]) =>
        [name, Array.isArray(value) ? value.join(" ") : String(value)] as const
      ),
      ...Object.entries({ ...roles, ...scopes }).map(([name, groups]) => [name, groups.join(" ")] as const),
      ["secret", has_secret ? "sealed" : "none"],
      ["added", formatTime(added)],
      ["redirect URI", `ISSUER/login/${stored.id}/callback`],
    ]);
  },
});

const update: StoreAction = storeAction({
  operands: "ID",
  summary: "changes settings; what is not named stays",
  options: { ...SETTINGS_OPTIONS, ...UNSET_OPTION },
  help: { options: UNSET_OPTION, note: "and the options of add, without --id" },
  async run({ store, values, operands: [id], json }) {
    const removed = (values.unset ?? []).map((name) => [REMOVABLE[name], null] as const);
    const given = Object.entries(await readSettings(values)).filter(([, value]) => value !== undefined);
    const changes: ProviderChanges = Object.fromEntries([...removed, ...given]);
    if (Object.keys(changes).length === 0) {
      throw new UsageError("missing option: name what to change");
    }
    const stored = await updateProvider(store, sealerOf(store), id!, changes);
    if (!stored) throw notFound(id!);
    printLine(json ? JSON.stringify(toShown(stored)) : `Changed ${id}`);
  },
});

const test: StoreAction = storeAction({
  operands: "ID",
  summary: "asks the provider for its metadata, and whether it accepts the client id and secret",
  options: {},
  async run({ store, operands: [id], json }) {
    const { authorization, client, code } = await checkProvider(
      providerAccess(store),
      await getProvider(store, id!),
    );
    if (client === "refused") {
      throw new Error(`${id} refuses the client id or secret (${code}). Change it with provider update`);
    }
    if (json) return printLine(JSON.stringify({ id, authorization, client }));
    printLine(`${id} answers. Users are sent to ${authorization}`);
    printLine(CLIENT_RESULTS[client]);
  },
});

const remove: StoreAction = storeAction({
  operands: "ID",
  summary:
    "removes a provider and revokes its kept tokens; sessions and tokens of this server stay until they end",
  options: {},
  async run({ store, operands: [id], json }) {
    // First its tokens: without the provider they cannot be revoked.
    const tokens = await endProviderTokens(providerAccess(store), id!);
    if (!await removeProvider(store, id!)) throw notFound(id!);
    if (json) return printLine(JSON.stringify({ id, removed: true, tokens }));
    printLine(`Removed ${id}${tokens === 0 ? "" : `, and kept tokens: ${tokens}`}`);
  },
});

const ACTIONS = { add, list, show, update, test, remove };

export const help: string = `trivet provider: identity providers at which users sign in

${describeActions("provider", ACTIONS)}

A change takes effect at once on a running server.

Examples:
  printf %s "$SECRET" | trivet provider add google --client-id ID --secret-stdin --domain example.com
  printf %s "$SECRET" | trivet provider add oidc --id work --name Work --issuer https://login.example.com \\
    --client-id ID --secret-stdin --role admin=Owners
  printf %s "$SECRET" | trivet provider update work --secret-stdin
  trivet provider add apple --client-id SERVICES_ID --team-id TEAM --key-id KEY --secret-stdin < AuthKey_KEY.p8
  trivet provider test work
`;

export function run(argv: readonly string[]): Promise<void> {
  return runAction("provider", ACTIONS, argv);
}

async function readSettings(values: ValuesOf<typeof SETTINGS_OPTIONS>) {
  const { name, issuer, tenant, domain: domains, group: groups } = values;
  const clientSecret = values["secret-stdin"] ? await readSecretFromStdin("secret") : undefined;
  return {
    clientId: values["client-id"],
    clientSecret,
    name,
    issuer,
    tenant,
    domains,
    groups,
    roles: toRoles(values.role),
    scopes: toScopes(values["scope-group"]),
    groupsClaim: values["groups-claim"],
    // Absent is no change.
    keepTokens: values["keep-tokens"] || undefined,
    teamId: values["team-id"],
    keyId: values["key-id"],
  };
}

async function getProvider(store: Store, id: string): Promise<StoredProvider> {
  const stored = (await store.get<StoredProvider>(providerKey(id)))?.value;
  if (!stored) throw notFound(id);
  return stored;
}

function notFound(id: string): Error {
  return new Error(`Provider not found: "${id}"`);
}

function toShown({ sealedSecret: _, ...shown }: StoredProvider): Omit<StoredProvider, "sealedSecret"> {
  return shown;
}

function toRoles(given: ValuesOf<typeof SETTINGS_OPTIONS>["role"]) {
  if (given === undefined) return undefined;
  return Object.fromEntries(
    USER_ROLES.map((role) => [role, given.filter((each) => each.role === role).map(({ group }) => group)]),
  );
}

function toScopes(given: ValuesOf<typeof SETTINGS_OPTIONS>["scope-group"]) {
  if (given === undefined) return undefined;
  const scopes = [...new Set(given.map(({ scope }) => scope))];
  return Object.fromEntries(
    scopes.map((scope) => [scope, given.filter((each) => each.scope === scope).map(({ group }) => group)]),
  );
}
