/**
 * `trivet provider`: the identity providers at which users sign in.
 *
 * @module
 */
import {
  addProvider,
  listProviders,
  removeProvider,
  showProvider,
  testProvider,
  updateProvider,
} from "../../../admin/operations/providers.ts";
import { PROVIDER_KINDS, usesSetting } from "../../../oauth/sign_in/stored_provider.ts";
import { USER_ROLES } from "../../../oauth/users/user_role.ts";
import type { ValuesOf } from "../options.ts";
import { formatTime, printPairs, printText, UsageError } from "../output.ts";
import { type AdminAction, adminAction, type AdminCommand, adminCommand } from "./admin_action.ts";
import { byIdOrName, removeAction } from "./by_name.ts";
import { warnOfScopes } from "./client_options.ts";
import { listAction } from "./list_action.ts";
import { readSecretFromStdin } from "./secret_input.ts";

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

/** What `--unset` removes, by the name of its option. */
const REMOVABLE = {
  name: "name",
  secret: "client_secret",
  domain: "domains",
  group: "groups",
  role: "roles",
  "scope-group": "scopes",
  "groups-claim": "groups_claim",
  "keep-tokens": "keep_tokens",
  issuer: "issuer",
  tenant: "tenant",
  "team-id": "team_id",
  "key-id": "key_id",
} as const;

/** The options that only some kinds use, by their setting. */
const KIND_OPTIONS = {
  issuer: "issuer",
  tenant: "tenant",
  groups: "group",
  roles: "role",
  groupsClaim: "groups-claim",
  teamId: "team-id",
  keyId: "key-id",
} as const;
const UNSET_OPTION = {
  unset: {
    value: "OPTION",
    isRepeatable: true,
    words: Object.keys(REMOVABLE) as readonly (keyof typeof REMOVABLE)[],
    summary: `remove a setting: ${Object.keys(REMOVABLE).join(", ")}`,
  },
} as const;

const add: AdminAction = adminAction({
  operands: "KIND",
  summary: `adds a provider: ${PROVIDER_KINDS.join(", ")}`,
  options: {
    id: { value: "ID", summary: "part of the redirect URI, ISSUER/login/ID/callback", shownDefault: "KIND" },
    ...SETTINGS_OPTIONS,
  },
  async run({ call, values, operands: [operand] }) {
    const kind = PROVIDER_KINDS.find((each) => each === operand);
    if (!kind) throw new UsageError(`KIND must be one of ${PROVIDER_KINDS.join(", ")}`);
    for (const [setting, option] of Object.entries(KIND_OPTIONS)) {
      if (values[option] === undefined || usesSetting(kind, setting)) continue;
      throw new UsageError(`--${option} does nothing for a provider of the kind ${kind}`);
    }
    const { client_id, ...settings } = await readSettings(values);
    if (client_id === undefined) throw new UsageError("missing option: --client-id");
    return await call(addProvider, { kind, id: values.id, client_id, ...settings });
  },
  print({ id, redirect_uri }) {
    printText(`provider      ${id}`);
    printText(`redirect URI  ${redirect_uri}   (register it at the provider)`);
  },
});

const list: AdminAction = listAction({
  operation: listProviders,
  summary: "lists the providers",
  columns: {
    ID: ({ id }) => id,
    KIND: ({ kind }) => kind,
    NAME: ({ name }) => name,
    CLIENT: ({ client_id }) => client_id,
    ADMITS: ({ domains, groups }) =>
      [...domains ?? [], ...groups ?? []].join(" ") || (domains ?? groups ? "no one" : "all its users"),
  },
});

const show: AdminAction = adminAction({
  operands: "ID|NAME",
  summary: "shows the settings of a provider",
  options: {},
  run: ({ call, operands: [provider] }) =>
    byIdOrName(call, listProviders, provider!, (id) => call(showProvider, { provider: id })),
  print({ roles, scopes, has_secret, added, ...shown }) {
    printPairs([
      ...Object.entries(shown).map(([name, value]) =>
        [name, Array.isArray(value) ? value.join(" ") : String(value)] as const
      ),
      ...Object.entries({ ...roles, ...scopes }).map(([name, groups]) => [name, groups.join(" ")] as const),
      ["secret", has_secret ? "sealed" : "none"],
      ["added", formatTime(added)],
    ]);
  },
});

const update: AdminAction = adminAction({
  operands: "ID|NAME",
  summary: "changes settings; what is not named stays",
  options: { ...UNSET_OPTION, ...SETTINGS_OPTIONS },
  async run({ call, values, operands: [provider] }) {
    const removed = (values.unset ?? []).map((name) => [REMOVABLE[name], null] as const);
    const given = Object.entries(await readSettings(values)).filter(([, value]) => value !== undefined);
    const both = values.unset?.find((name) => given.some(([setting]) => setting === REMOVABLE[name]));
    if (both !== undefined) throw new UsageError(`--unset ${both} and a value for it exclude each other`);
    const changes = Object.fromEntries([...removed, ...given]);
    if (Object.keys(changes).length === 0) {
      throw new UsageError("missing option: name what to change");
    }
    return await byIdOrName(
      call,
      listProviders,
      provider!,
      (id) => call(updateProvider, { provider: id, ...changes }),
    );
  },
  print: (_, { operands: [provider] }) => printText(`Changed ${provider}`),
});

const test: AdminAction = adminAction({
  operands: "ID|NAME",
  summary: "asks the provider for its metadata, and whether it accepts the client id and secret",
  options: {},
  run: ({ call, operands: [provider] }) =>
    byIdOrName(call, listProviders, provider!, (id) => call(testProvider, { provider: id })),
  print({ id, authorization_endpoint, client }) {
    if (authorization_endpoint === null) return;
    printText(`${id} answers. Users are sent to ${authorization_endpoint}`);
    if (client === "accepted") printText("It accepts the client id and secret.");
    if (client === "unknown") {
      printText("Whether it accepts the client id and secret shows at the first sign-in.");
    }
  },
  findProblem: ({ works, problem }) => works ? null : problem ?? "The provider does not work",
});

const remove: AdminAction = removeAction({
  operand: "ID|NAME",
  summary:
    "removes a provider and revokes its kept tokens; sessions and tokens of this server stay until they end",
  list: listProviders,
  remove: (call, provider) => call(removeProvider, { provider }),
});

export const command: AdminCommand = adminCommand({
  name: "provider",
  title: "identity providers at which users sign in",
  actions: { add, list, show, update, test, remove },
  notes: "A change takes effect at once on a running server.",
  examples: [
    'printf %s "$SECRET" | trivet provider add google --client-id ID --secret-stdin --domain example.com',
    `printf %s "$SECRET" | trivet provider add oidc --id work --name Work --issuer https://login.example.com \\
    --client-id ID --secret-stdin --role admin=Owners`,
    'printf %s "$SECRET" | trivet provider update work --secret-stdin',
    "trivet provider add apple --client-id SERVICES_ID --team-id TEAM --key-id KEY --secret-stdin < AuthKey_KEY.p8",
    "trivet provider test work",
  ],
});

async function readSettings(values: ValuesOf<typeof SETTINGS_OPTIONS>) {
  const { name, issuer, tenant, domain: domains, group: groups } = values;
  warnOfScopes(values["scope-group"]?.map(({ scope }) => scope).join(" "));
  return {
    client_id: values["client-id"],
    client_secret: values["secret-stdin"] ? await readSecretFromStdin("secret") : undefined,
    name,
    issuer,
    tenant,
    domains,
    groups,
    roles: groupsBy(values.role?.map(({ role, group }) => [role, group])),
    scopes: groupsBy(values["scope-group"]?.map(({ scope, group }) => [scope, group])),
    groups_claim: values["groups-claim"],
    // Absent is no change.
    keep_tokens: values["keep-tokens"] || undefined,
    team_id: values["team-id"],
    key_id: values["key-id"],
  };
}

/** The groups of each name. */
function groupsBy(
  pairs: readonly (readonly [name: string, group: string])[] | undefined,
): Record<string, string[]> | undefined {
  if (pairs === undefined) return undefined;
  const groups: Record<string, string[]> = {};
  for (const [name, group] of pairs) (groups[name] ??= []).push(group);
  return groups;
}
