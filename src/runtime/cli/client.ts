/**
 * `trivet client`: OAuth clients of a data folder.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import process from "node:process";
import { addClient, isPublic, listClients, removeClient } from "../../oauth/clients/client.ts";
import { type Client, GRANT_TYPES, type GrantType } from "../../oauth/records.ts";
import { DATA_HELP, DATA_OPTION, readPlace, withStore } from "./data.ts";
import {
  listOption,
  printLine,
  printTable,
  readArguments,
  textOption,
  UsageError,
  wordOption,
} from "./output.ts";

export const help: string = `trivet client: adds, lists and removes OAuth clients

Usage: trivet client add [options]
       trivet client list [options]
       trivet client remove ID [options]

${DATA_HELP}
  --json         print JSON
add:
  --id ID        its id (default: a random one)
  --name NAME    what users see at consent (default: the id)
  --domain HOST  any https redirect URI on exactly this host
  --redirect-uri URI   an exact redirect URI; may come several times
  --grant-type TYPE    authorization_code, refresh_token, client_credentials, device_code, token-exchange or
                       jwt-bearer; may come several times
  --scope "A B"  the scopes that it may have (default: all but admin)
  --public       a public client: no secret, PKCE instead
  --jwks FILE    its public keys (a JWK Set): it proves itself by private_key_jwt, without a secret
  --jwks-uri URL where its public keys are, instead
  --token-format KIND  opaque or jwt, for its access tokens (default: as the server)
  --require-par  it must push its authorization requests (RFC 9126)
  --trusted      you vouch for it: what a user allowed it before is not asked again
  --require-dpop it gets tokens only with a DPoP proof (RFC 9449)

A running server sees the change at once.

Examples:
  trivet client add --name "My app" --domain app.example.com
  trivet client add --public --redirect-uri http://127.0.0.1/callback
  trivet client add --id worker --grant-type client_credentials --scope skills:read
`;

export async function run(argv: readonly string[]): Promise<void> {
  const { values, operands: [action, id] } = readArguments(argv, {
    ...DATA_OPTION,
    json: { type: "boolean" },
    id: { type: "string" },
    name: { type: "string" },
    domain: { type: "string" },
    "redirect-uri": { type: "string", multiple: true },
    "grant-type": { type: "string", multiple: true },
    scope: { type: "string" },
    public: { type: "boolean" },
    jwks: { type: "string" },
    "jwks-uri": { type: "string" },
    "token-format": { type: "string" },
    "require-par": { type: "boolean" },
    "require-dpop": { type: "boolean" },
    trusted: { type: "boolean" },
  }, 2);
  const place = readPlace(values, process.env);
  const json = values.json === true;
  switch (action) {
    case "add":
      return await withStore(place, async (store) => {
        const jwks = textOption(values, "jwks");
        const { client, secret } = await addClient(store, {
          id: textOption(values, "id"),
          name: textOption(values, "name"),
          domain: textOption(values, "domain"),
          redirect_uris: listOption(values, "redirect-uri"),
          grant_types: listOption(values, "grant-type")?.map(readGrantType),
          jwks: jwks === undefined ? undefined : readKeySet(jwks),
          jwks_uri: textOption(values, "jwks-uri"),
          access_token_format: wordOption(values, "token-format", ["opaque", "jwt"]),
          require_pushed_authorization_requests: values["require-par"] === true || undefined,
          dpop_bound_access_tokens: values["require-dpop"] === true || undefined,
          trusted: values.trusted === true || undefined,
          scope: textOption(values, "scope"),
          public: values.public === true,
        });
        const { secret_digest: _, ...shown } = client;
        if (json) return printLine(JSON.stringify({ ...shown, secret: secret ?? null }));
        printLine(`client  ${client.id}`);
        if (secret !== undefined) printLine(`secret  ${secret}   (shown once)`);
        else if (isPublic(client)) printLine("It is public: it has no secret");
        else printLine(`It proves itself by ${client.token_endpoint_auth_method}: it has no secret`);
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
      if (id === undefined) throw new UsageError("Name the id of the client to remove");
      return await withStore(place, async (store) => {
        if (!await removeClient(store, id)) throw new Error(`There is no client "${id}"`);
        printLine(`Removed ${id}`);
      });
    default:
      throw new UsageError("Say what to do: add, list or remove");
  }
}

/** A grant type by its name, or by the last word of it. */
function readGrantType(word: string): GrantType {
  const type = GRANT_TYPES.find((each) => each === word || each.endsWith(`:grant-type:${word}`));
  if (type) return type;
  const words = GRANT_TYPES.map((each) => each.split(":").at(-1)).join(", ");
  throw new UsageError(`--grant-type must be one of ${words}, but is "${word}"`);
}

function readKeySet(file: string): { keys: unknown[] } {
  try {
    const { keys } = JSON.parse(readFileSync(file, "utf8")) as { keys?: unknown };
    if (Array.isArray(keys)) return { keys };
  } catch (cause) {
    throw new UsageError(`--jwks: cannot read "${file}": ${(cause as Error).message}`, { cause });
  }
  throw new UsageError(`--jwks: "${file}" must be a JWK Set, an object with keys`);
}
