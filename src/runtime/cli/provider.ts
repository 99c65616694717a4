/**
 * `trivet provider`: the identity providers at which users sign in.
 *
 * @module
 */
import process from "node:process";
import { collectBytes } from "../../http/body/byte_buffer.ts";
import { createConfiguredFetch } from "../../http/network/public_fetch.ts";
import { createRemoteDocuments } from "../../oauth/clients/remote_document.ts";
import type { StoredProvider } from "../../oauth/records.ts";
import {
  addProvider,
  createSecretSealer,
  listProviders,
  openProvider,
  PROVIDER_KINDS,
  removeProvider,
} from "../../oauth/sign_in/stored_provider.ts";
import { USER_ROLES } from "../../oauth/users/user_role.ts";
import { serverSecret } from "../../server_secret.ts";
import type { Store } from "../../store/store.ts";
import { DATA_OPTIONS, readPlace, withStore } from "./data.ts";
import { describeOptions, readArguments, type ValuesOf } from "./options.ts";
import { printLine, printTable, unknownAction, UsageError } from "./output.ts";

const COMMON_OPTIONS = { ...DATA_OPTIONS, json: { summary: "print JSON" } } as const;
const ADD_OPTIONS = {
  id: { value: "ID", summary: "part of the redirect URI, ISSUER/login/ID/callback", shownDefault: "KIND" },
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

export const help: string = `trivet provider: identity providers at which users sign in

Usage: trivet provider add KIND [options]     KIND: ${PROVIDER_KINDS.join(", ")}
       trivet provider list [options]
       trivet provider test ID [options]
       trivet provider remove ID [options]

${describeOptions(COMMON_OPTIONS)}

add:
${describeOptions(ADD_OPTIONS)}

test asks the provider for its metadata and prints where users are sent. A change takes effect at once on a
running server. A removed provider signs no one in any more; sessions and tokens stay until they end.

Examples:
  printf %s "$SECRET" | trivet provider add google --client-id ID --secret-stdin --domain example.com
  printf %s "$SECRET" | trivet provider add oidc --id work --name Work --issuer https://login.example.com \\
    --client-id ID --secret-stdin --role admin=Owners
  trivet provider test work
`;

export async function run(argv: readonly string[]): Promise<void> {
  const { values, operands: [action, operand] } = readArguments(
    argv,
    { ...COMMON_OPTIONS, ...ADD_OPTIONS },
    2,
  );
  const place = readPlace(values, process.env);
  const requireOperand = (name: string): string => {
    if (operand === undefined) throw new UsageError(`missing argument: ${name}`);
    return operand;
  };
  switch (action) {
    case "add": {
      const kind = PROVIDER_KINDS.find((each) => each === requireOperand("KIND"));
      if (!kind) throw new UsageError(`KIND must be one of ${PROVIDER_KINDS.join(", ")}`);
      const clientId = values["client-id"];
      if (clientId === undefined) throw new UsageError("missing option: --client-id");
      const clientSecret = values["secret-stdin"] ? await readSecret() : undefined;
      return await withStore(place, async (store) => {
        const { id, name, issuer, tenant, domain: domains, group: groups } = values;
        const stored = await addProvider(store, sealerOf(store), {
          kind,
          clientId,
          clientSecret,
          id,
          name,
          issuer,
          tenant,
          domains,
          groups,
          roles: toRoles(values.role),
        });
        if (values.json) return printLine(JSON.stringify(toShown(stored)));
        printLine(`provider      ${stored.id}`);
        printLine(`redirect URI  ISSUER/login/${stored.id}/callback   (register it at the provider)`);
      });
    }
    case "list":
      return await withStore(place, async (store) => {
        const providers = (await Array.fromAsync(listProviders(store))).map(toShown);
        if (values.json) return printLine(JSON.stringify(providers));
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
      });
    case "test":
      return await withStore(place, async (store) => {
        const id = requireOperand("ID");
        const stored = (await Array.fromAsync(listProviders(store))).find((each) => each.id === id);
        if (!stored) throw new Error(`Provider not found: "${id}"`);
        const url = await findStart(store, stored);
        printLine(
          values.json
            ? JSON.stringify({ id, authorization: url })
            : `${id} answers. Users are sent to ${url}`,
        );
      });
    case "remove":
      return await withStore(place, async (store) => {
        const id = requireOperand("ID");
        if (!await removeProvider(store, id)) throw new Error(`Provider not found: "${id}"`);
        printLine(`Removed ${id}`);
      });
    default:
      throw unknownAction(action, ["add", "list", "test", "remove"]);
  }
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

function toRoles(given: ValuesOf<typeof ADD_OPTIONS>["role"]) {
  if (given === undefined) return undefined;
  return Object.fromEntries(
    USER_ROLES.map((role) => [role, given.filter((each) => each.role === role).map(({ group }) => group)]),
  );
}

async function readSecret(): Promise<string> {
  const text = new TextDecoder().decode(await collectBytes(process.stdin)).replace(/\r?\n$/, "");
  if (text === "") throw new UsageError("standard input has no secret");
  return text;
}
