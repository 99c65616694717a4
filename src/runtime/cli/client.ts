/**
 * `trivet client`: the OAuth clients of a store.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import process from "node:process";
import { addClient, isPublic, listClients, removeClient } from "../../oauth/clients/client.ts";
import { type Client, GRANT_TYPES } from "../../oauth/records.ts";
import { DATA_OPTIONS, readPlace, withStore } from "./data.ts";
import { describeOptions, readArguments } from "./options.ts";
import { printLine, printTable, unknownAction, UsageError } from "./output.ts";

/** Names of grant types without their URN prefix. */
const GRANT_NAMES = GRANT_TYPES.map((type) => type.split(":").at(-1)).join(", ");

const COMMON_OPTIONS = { ...DATA_OPTIONS, json: { summary: "print JSON" } } as const;
const ADD_OPTIONS = {
  id: { value: "ID", summary: "the client id", shownDefault: "a random one" },
  name: { value: "NAME", summary: "the name that users see at consent", shownDefault: "the id" },
  domain: { value: "HOST", summary: "accept any https redirect URI on exactly this host" },
  "redirect-uri": { value: "URI", isRepeatable: true, summary: "an exact redirect URI" },
  "grant-type": {
    value: "TYPE",
    isRepeatable: true,
    summary: `a grant type: ${GRANT_NAMES}`,
    parse: (text: string) =>
      GRANT_TYPES.find((type) => type === text || type.endsWith(`:grant-type:${text}`)),
    expected: `one of ${GRANT_NAMES}`,
  },
  scope: { value: '"A B"', summary: "the scopes that the client can have", shownDefault: "all but admin" },
  public: { summary: "a public client: no secret, PKCE instead" },
  jwks: {
    value: "FILE",
    summary: "file with the client's public keys (a JWK Set), for private_key_jwt instead of a secret",
  },
  "jwks-uri": { value: "URL", summary: "URL of the client's public keys, instead of a file" },
  "token-format": {
    value: "FORMAT",
    words: ["opaque", "jwt"],
    summary: "format of the client's access tokens: opaque or jwt",
    shownDefault: "the server's",
  },
  "require-par": { summary: "require pushed authorization requests (RFC 9126)" },
  "require-dpop": { summary: "issue tokens only with a DPoP proof (RFC 9449)" },
  trusted: { summary: "you vouch for the client: it skips consent that the user already gave" },
} as const;

export const help: string = `trivet client: adds, lists and removes OAuth clients

Usage: trivet client add [options]
       trivet client list [options]
       trivet client remove ID [options]

${describeOptions(COMMON_OPTIONS)}

add:
${describeOptions(ADD_OPTIONS)}

A change takes effect at once on a running server.

Examples:
  trivet client add --name "My app" --domain app.example.com
  trivet client add --public --redirect-uri http://127.0.0.1/callback
  trivet client add --id worker --grant-type client_credentials --scope skills:read
`;

export async function run(argv: readonly string[]): Promise<void> {
  const { values, operands: [action, id] } = readArguments(argv, { ...COMMON_OPTIONS, ...ADD_OPTIONS }, 2);
  const place = readPlace(values, process.env);
  const { json } = values;
  switch (action) {
    case "add":
      return await withStore(place, async (store) => {
        const { client, secret } = await addClient(store, {
          id: values.id,
          name: values.name,
          domain: values.domain,
          redirect_uris: values["redirect-uri"],
          grant_types: values["grant-type"],
          jwks: values.jwks === undefined ? undefined : readKeySet(values.jwks),
          jwks_uri: values["jwks-uri"],
          access_token_format: values["token-format"],
          require_pushed_authorization_requests: values["require-par"] || undefined,
          dpop_bound_access_tokens: values["require-dpop"] || undefined,
          trusted: values.trusted || undefined,
          scope: values.scope,
          public: values.public,
        });
        const { secret_digest: _, ...shown } = client;
        if (json) return printLine(JSON.stringify({ ...shown, secret: secret ?? null }));
        printLine(`client  ${client.id}`);
        if (secret !== undefined) printLine(`secret  ${secret}   (shown once)`);
        else if (isPublic(client)) printLine("A public client: it has no secret");
        else printLine(`It authenticates with ${client.token_endpoint_auth_method}: it has no secret`);
      });
    case "list":
      return await withStore(place, async (store) => {
        const clients = await Array.fromAsync(listClients(store));
        const shown = clients.map(({ secret_digest: _, ...client }) => ({
          ...client,
          public: isPublic(client as Client),
        }));
        if (json) return printLine(JSON.stringify(shown));
        printTable(
          ["ID", "NAME", "REDIRECTS", "GRANTS"],
          clients.map(({ id, name, domain, redirect_uris, grant_types }) => [
            id,
            name,
            [...(domain ? [domain] : []), ...(redirect_uris ?? [])].join(" ") || "-",
            grant_types.join(" "),
          ]),
        );
      });
    case "remove":
      if (id === undefined) throw new UsageError("missing argument: ID of the client to remove");
      return await withStore(place, async (store) => {
        if (!await removeClient(store, id)) throw new Error(`Client not found: "${id}"`);
        printLine(`Removed ${id}`);
      });
    default:
      throw unknownAction(action, ["add", "list", "remove"]);
  }
}

function readKeySet(file: string): { keys: unknown[] } {
  try {
    const { keys } = JSON.parse(readFileSync(file, "utf8")) as { keys?: unknown };
    if (Array.isArray(keys)) return { keys };
  } catch (cause) {
    throw new UsageError(`--jwks: cannot read "${file}": ${(cause as Error).message}`, { cause });
  }
  throw new UsageError(`--jwks: "${file}" must be a JWK Set: an object with "keys"`);
}
