/**
 * `trivet provider`: the identity providers at which users sign in.
 *
 * @module
 */
import { createConfiguredFetch } from "../../../http/network/public_fetch.ts";
import { createRemoteDocuments } from "../../../oauth/clients/remote_document.ts";
import { providerKey, type StoredProvider } from "../../../oauth/records.ts";
import {
  addProvider,
  createSecretSealer,
  listProviders,
  openProvider,
  PROVIDER_KINDS,
  type ProviderChanges,
  removeProvider,
  updateProvider,
} from "../../../oauth/sign_in/stored_provider.ts";
import { USER_ROLES } from "../../../oauth/users/user_role.ts";
import { serverSecret } from "../../../server_secret.ts";
import type { Store } from "../../../store/store.ts";
import type { ValuesOf } from "../options.ts";
import { formatTime, printLine, printPairs, printTable, UsageError } from "../output.ts";
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
} as const;

/** What `--unset` removes, by the name of its option. */
const REMOVABLE = {
  name: "name",
  secret: "clientSecret",
  domain: "domains",
  group: "groups",
  role: "roles",
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
    const { added, roles, ...shown } = toShown(stored);
    const has_secret = stored.sealedSecret !== undefined;
    if (json) return printLine(JSON.stringify({ ...toShown(stored), has_secret }));
    printPairs([
      ...Object.entries(shown).map(([name, value]) =>
        [name, Array.isArray(value) ? value.join(" ") : String(value)] as const
      ),
      ...Object.entries(roles ?? {}).map(([role, groups]) => [role, groups.join(" ")] as const),
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
  summary: "asks the provider for its metadata, and prints where users are sent",
  options: {},
  async run({ store, operands: [id], json }) {
    const url = await findStart(store, await getProvider(store, id!));
    printLine(json ? JSON.stringify({ id, authorization: url }) : `${id} answers. Users are sent to ${url}`);
  },
});

const remove: StoreAction = storeAction({
  operands: "ID",
  summary: "removes a provider; sessions and tokens stay until they end",
  options: {},
  async run({ store, operands: [id], json }) {
    if (!await removeProvider(store, id!)) throw notFound(id!);
    printLine(json ? JSON.stringify({ id, removed: true }) : `Removed ${id}`);
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

/** The address to which users are sent, without its query. */
async function findStart(store: Store, stored: StoredProvider): Promise<string> {
  const provider = await openProvider(stored, sealerOf(store));
  const get = createConfiguredFetch({ connect: (url, init) => fetch(url, init), limit: 256 * 1024 });
  const documents = createRemoteDocuments(get, Date.now);
  const placeholder = {
    redirect_uri: "",
    state: "",
    nonce: "",
    code_verifier: "",
    isNewLogin: false,
    began: 0,
  };
  const url = new URL(await provider.start({ fetch: get, documents, now: Date.now }, placeholder));
  return url.origin + url.pathname;
}

function sealerOf(store: Store) {
  return createSecretSealer(serverSecret(store));
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
