/**
 * `trivet client`: the OAuth clients of a store.
 *
 * @module
 */
import { addClient, isPublic, listClients, removeClient } from "../../../oauth/clients/client.ts";
import { rotateClientSecret, updateClient, withoutSecrets } from "../../../oauth/clients/client_changes.ts";
import { type Client, clientKey } from "../../../oauth/records.ts";
import { formatTime, printLine, printPairs, printTable, UsageError } from "../output.ts";
import { METADATA_OPTIONS, readMetadata, readUnset, UNSET_OPTION } from "./client_options.ts";
import { readSecretFromStdin } from "./secret_input.ts";
import { describeActions, runAction, type StoreAction, storeAction } from "./store_action.ts";

const SECRET_OPTION = {
  "secret-stdin": { summary: "read the secret from standard input, instead of a random one" },
} as const;
const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

const add: StoreAction = storeAction({
  operands: "",
  summary: "adds a client, and prints its secret once",
  options: {
    id: { value: "ID", summary: "the client id", shownDefault: "a random one" },
    public: { summary: "a public client: no secret, PKCE instead" },
    ...SECRET_OPTION,
    ...METADATA_OPTIONS,
  },
  async run({ store, values, json }) {
    const chosen = values["secret-stdin"] ? await readSecretFromStdin("secret") : undefined;
    const members = readMetadata(values) as Omit<Parameters<typeof addClient>[1], "id" | "secret">;
    const { client, secret } = await addClient(store, {
      ...members,
      id: values.id,
      public: values.public || members.token_endpoint_auth_method === "none",
      ...(chosen !== undefined && { secret: chosen }),
    });
    const shown = chosen === undefined ? secret : undefined;
    if (json) return printLine(JSON.stringify({ ...withoutSecrets(client), secret: shown ?? null }));
    printLine(`client  ${client.id}`);
    if (shown !== undefined) printLine(`secret  ${shown}   (shown once)`);
    else if (chosen !== undefined) printLine("It has the secret from standard input");
    else if (isPublic(client)) printLine("A public client: it has no secret");
    else printLine(`It authenticates with ${client.token_endpoint_auth_method}: it has no secret`);
  },
});

const list: StoreAction = storeAction({
  operands: "",
  summary: "lists all clients",
  options: {},
  async run({ store, json }) {
    const clients = await Array.fromAsync(listClients(store));
    if (json) {
      return printLine(
        JSON.stringify(clients.map((client) => ({ ...withoutSecrets(client), public: isPublic(client) }))),
      );
    }
    printTable(
      ["ID", "NAME", "FROM", "AUTHENTICATES BY", "REDIRECTS", "GRANTS"],
      clients.map(({ id, name, source, token_endpoint_auth_method, domain, redirect_uris, grant_types }) => [
        id,
        name,
        source,
        token_endpoint_auth_method,
        [...(domain ? [domain] : []), ...(redirect_uris ?? [])].join(" ") || "-",
        grant_types.map((type) => type.split(":").at(-1)).join(" "),
      ]),
    );
  },
});

const show: StoreAction = storeAction({
  operands: "ID",
  summary: "shows all metadata of a client",
  options: {},
  async run({ store, operands: [id], json }) {
    const client = (await store.get<Client>(clientKey(id!)))?.value;
    if (!client) throw notFound(id!);
    const { previous_secret } = client;
    const shown = {
      ...withoutSecrets(client),
      ...(client.secret_digest !== undefined && { has_secret: true }),
      ...(previous_secret && previous_secret.until > Date.now() &&
        { old_secret_until: previous_secret.until }),
    };
    if (json) return printLine(JSON.stringify(shown));
    printPairs(Object.entries(shown).map(([name, value]) => [name, toText(name, value)]));
  },
});

const update: StoreAction = storeAction({
  operands: "ID",
  summary: "changes metadata; what is not named stays",
  options: { ...METADATA_OPTIONS, unset: UNSET_OPTION },
  help: { options: { unset: UNSET_OPTION }, note: "and the options of add from --name on" },
  async run({ store, values, operands: [id], json }) {
    const changes = { ...readUnset(values.unset), ...readMetadata(values) };
    if (Object.keys(changes).length === 0) throw new UsageError("missing option: name what to change");
    const client = await updateClient(store, id!, changes);
    if (!client) throw notFound(id!);
    printLine(json ? JSON.stringify(withoutSecrets(client)) : `Changed ${id}`);
  },
});

const rotateSecret: StoreAction = storeAction({
  operands: "ID",
  summary: "gives a client a new secret, and prints it once",
  options: {
    "keep-old": {
      value: "TIME",
      summary: "keep the old secret valid, such as 90s, 30m, 1h or 7d; up to 30d",
      shownDefault: "it ends at once",
      parse: readDuration,
      expected: "a time such as 90s, 30m, 1h or 7d",
    },
    ...SECRET_OPTION,
  },
  async run({ store, values, operands: [id], json }) {
    const chosen = values["secret-stdin"] ? await readSecretFromStdin("secret") : undefined;
    const rotated = await rotateClientSecret(store, id!, { secret: chosen, keepOld: values["keep-old"] });
    if (!rotated) throw notFound(id!);
    const until = rotated.client.previous_secret?.until;
    const secret = chosen === undefined ? rotated.secret : undefined;
    if (json) {
      return printLine(JSON.stringify({ id, secret: secret ?? null, old_secret_until: until ?? null }));
    }
    printLine(`client  ${id}`);
    if (secret !== undefined) printLine(`secret  ${secret}   (shown once)`);
    printLine(
      until === undefined ? "The old secret has ended" : `The old secret is valid until ${formatTime(until)}`,
    );
  },
});

const remove: StoreAction = storeAction({
  operands: "ID",
  summary: "removes a client with all its tokens",
  options: {},
  async run({ store, operands: [id], json }) {
    if (!await removeClient(store, id!)) throw notFound(id!);
    printLine(json ? JSON.stringify({ id, removed: true }) : `Removed ${id}`);
  },
});

const ACTIONS = { add, list, show, update, "rotate-secret": rotateSecret, remove };

export const help: string = `trivet client: OAuth clients

${describeActions("client", { ...ACTIONS, update: { ...update, options: { unset: UNSET_OPTION } } })}

A change takes effect at once on a running server, and tokens stay valid. Users are asked again when the name,
a redirect URI or a key changes.

Examples:
  trivet client add --name "My app" --domain app.example.com
  trivet client add --public --redirect-uri http://127.0.0.1/callback
  trivet client add --id worker --grant-type client_credentials --scope skills:read
  trivet client update worker --scope "skills:read skills:write" --unset require-dpop
  trivet client rotate-secret worker --keep-old 1h
`;

export function run(argv: readonly string[]): Promise<void> {
  return runAction("client", ACTIONS, argv);
}

function notFound(id: string): Error {
  return new Error(`Client not found: "${id}"`);
}

/** Seconds. */
function readDuration(text: string): number | undefined {
  const [, count, unit] = /^([0-9]{1,7})([smhd])$/.exec(text) ?? [];
  const seconds = count === undefined ? NaN : Number(count) * SECONDS[unit!]!;
  return seconds <= 30 * 86_400 ? seconds : undefined;
}

function toText(name: string, value: unknown): string {
  if (name === "created" || name === "old_secret_until") return formatTime(value as number);
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value.join(" ");
  return typeof value === "string" ? value : JSON.stringify(value);
}
