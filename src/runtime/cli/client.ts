/**
 * `trivet client`: OAuth clients of a data folder.
 *
 * @module
 */
import process from "node:process";
import { addClient, listClients, removeClient } from "../../oauth/client.ts";
import type { GrantType } from "../../oauth/records.ts";
import { DATA_HELP, DATA_OPTION, readPlace, withStore } from "./data.ts";
import { listOption, printLine, printTable, readArguments, textOption, UsageError } from "./output.ts";

export const summary = "adds, lists and removes OAuth clients";
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
  --grant-type TYPE    authorization_code, refresh_token or client_credentials; may come several times
  --scope "A B"  the scopes that it may have (default: all but admin)
  --public       a public client: no secret, PKCE instead

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
  }, 2);
  const place = readPlace(values, process.env);
  const json = values.json === true;
  switch (action) {
    case "add":
      return await withStore(place, async (store) => {
        const grantTypes = listOption(values, "grant-type");
        const wrong = grantTypes?.find((type) =>
          !/^(authorization_code|refresh_token|client_credentials)$/.test(type)
        );
        if (wrong) {
          throw new UsageError(
            `--grant-type must be authorization_code, refresh_token or client_credentials`,
          );
        }
        const { client, secret } = await addClient(store, {
          id: textOption(values, "id"),
          name: textOption(values, "name"),
          domain: textOption(values, "domain"),
          redirect_uris: listOption(values, "redirect-uri"),
          grant_types: grantTypes as readonly GrantType[] | undefined,
          scope: textOption(values, "scope"),
          public: values.public === true,
        });
        const { secret_digest: _, ...shown } = client;
        if (json) return printLine(JSON.stringify({ ...shown, secret: secret ?? null }));
        printLine(`client  ${client.id}`);
        printLine(
          secret === undefined ? "It is public: it has no secret" : `secret  ${secret}   (shown once)`,
        );
      });
    case "list":
      return await withStore(place, async (store) => {
        const clients = await Array.fromAsync(listClients(store));
        const shown = clients.map(({ secret_digest, ...client }) => ({
          ...client,
          public: secret_digest === undefined,
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
