/**
 * `trivet client`: OAuth clients.
 *
 * @module
 */
import {
  addClient,
  type ClientRequest,
  listClients,
  removeClient,
  rotateClientSecret,
  showClient,
  updateClient,
} from "../../../admin/operations/clients.ts";
import { formatTime, printPairs, printText, UsageError } from "../output.ts";
import { type AdminAction, adminAction, type AdminCommand, adminCommand } from "./admin_action.ts";
import { METADATA_OPTIONS, readMetadata, readUnset, UNSET_OPTION, warnOfScopes } from "./client_options.ts";
import { byIdOrName, removeAction } from "./by_name.ts";
import { listAction } from "./list_action.ts";
import { readSecretFromStdin } from "./secret_input.ts";

const SECRET_OPTION = {
  "secret-stdin": { summary: "read the secret from standard input, instead of a random one" },
} as const;
const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

const add: AdminAction = adminAction({
  operands: "",
  summary: "adds a client, and prints its secret once",
  options: {
    id: { value: "ID", summary: "the client id", shownDefault: "a random one" },
    public: { summary: "a public client: no secret, PKCE instead" },
    ...SECRET_OPTION,
    ...METADATA_OPTIONS,
  },
  async run({ call, values }) {
    const secret = values["secret-stdin"] ? await readSecretFromStdin("secret") : undefined;
    const metadata = readMetadata(values) as ClientRequest;
    warnOfScopes(metadata.scope);
    const { id, public: isPublic } = values;
    return await call(addClient, { ...metadata, id, public: isPublic, secret });
  },
  print({ id, secret, public: isPublic, has_secret, token_endpoint_auth_method }) {
    printText(`client  ${id}`);
    if (secret !== null) printText(`secret  ${secret}   (shown once)`);
    else if (has_secret) printText("It has the secret from standard input");
    else if (isPublic) printText("A public client: it has no secret");
    else printText(`It authenticates with ${token_endpoint_auth_method}: it has no secret`);
  },
});

const list: AdminAction = listAction({
  operation: listClients,
  summary: "lists the clients",
  columns: {
    ID: ({ id }) => id,
    NAME: ({ name }) => name,
    FROM: ({ source }) => source,
    "AUTHENTICATES BY": ({ token_endpoint_auth_method: method }) => String(method),
    REDIRECTS: ({ domain, redirect_uris }) => [domain ?? [], redirect_uris ?? []].flat().join(" "),
    GRANTS: ({ grant_types }) => [grant_types].flat().map((type) => String(type).split(":").at(-1)).join(" "),
  },
});

const show: AdminAction = adminAction({
  operands: "ID|NAME",
  summary: "shows all metadata of a client",
  options: {},
  run: ({ call, operands: [client] }) =>
    byIdOrName(call, listClients, client!, (id) => call(showClient, { client: id })),
  print: (client) => printPairs(Object.entries(client).map(([name, value]) => [name, toText(name, value)])),
});

const update: AdminAction = adminAction({
  operands: "ID|NAME",
  summary: "changes metadata; what is not named stays",
  options: { unset: UNSET_OPTION, ...METADATA_OPTIONS },
  run({ call, values, operands: [client] }) {
    const [removed, given] = [readUnset(values.unset), readMetadata(values)];
    const both = Object.keys(removed).find((member) => member in given);
    if (both !== undefined) throw new UsageError(`--unset and a value for ${both} exclude each other`);
    const changes = { ...removed, ...given };
    warnOfScopes(given.scope);
    if (Object.keys(changes).length === 0) throw new UsageError("missing option: name what to change");
    return byIdOrName(call, listClients, client!, (id) => call(updateClient, { client: id, ...changes }));
  },
  print: (_, { operands: [client] }) => printText(`Changed ${client}`),
});

const rotateSecret: AdminAction = adminAction({
  operands: "ID|NAME",
  summary: "gives a client a new secret, and prints it once",
  options: {
    "keep-old": {
      value: "TIME",
      summary: "keep the old secret valid, such as 90s, 30m, 1h or 7d; up to 30d",
      shownDefault: "it ends at once",
      parse: readDuration,
      expected: "a time such as 90s, 30m, 1h or 7d, at most 30d",
    },
    ...SECRET_OPTION,
  },
  async run({ call, values, operands: [client] }) {
    const secret = values["secret-stdin"] ? await readSecretFromStdin("secret") : undefined;
    const input = { secret, keep_old_seconds: values["keep-old"] };
    return await byIdOrName(
      call,
      listClients,
      client!,
      (id) => call(rotateClientSecret, { client: id, ...input }),
    );
  },
  print({ id, secret, old_secret_until }) {
    printText(`client  ${id}`);
    if (secret !== null) printText(`secret  ${secret}   (shown once)`);
    printText(
      old_secret_until === null
        ? "The old secret has ended"
        : `The old secret is valid until ${formatTime(old_secret_until)}`,
    );
  },
});

const remove: AdminAction = removeAction({
  operand: "ID|NAME",
  summary: "removes a client with all its tokens",
  list: listClients,
  remove: (call, client) => call(removeClient, { client }),
});

export const command: AdminCommand = adminCommand({
  name: "client",
  title: "OAuth clients",
  actions: { add, list, show, update, "rotate-secret": rotateSecret, remove },
  notes:
    `A change takes effect at once on a running server, and tokens stay valid. Users are asked again when the name,
a redirect URI or a key changes. A NAME stands for the only client of that name.`,
  examples: [
    'trivet client add --name "My app" --domain app.example.com',
    "trivet client add --public --redirect-uri http://127.0.0.1/callback",
    "trivet client add --id worker --grant-type client_credentials --scope skills:read",
    "trivet client update worker --scope skills:read --scope skills:write --unset require-dpop",
    "trivet client rotate-secret worker --keep-old 1h",
  ],
});

/** Seconds. */
function readDuration(text: string): number | undefined {
  const [, count, unit] = /^([0-9]{1,7})([smhd])$/.exec(text) ?? [];
  const seconds = count === undefined ? NaN : Number(count) * SECONDS[unit!]!;
  return seconds <= 30 * 86_400 ? seconds : undefined;
}

function toText(name: string, value: unknown): string {
  if (name === "created" || name === "old_secret_until") return formatTime(value as string | null);
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value.join(" ");
  return typeof value === "string" ? value : JSON.stringify(value);
}
