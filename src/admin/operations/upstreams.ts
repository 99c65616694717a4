/**
 * Operations on the MCP servers behind the gateway: those in the store, and the state of all at this instance.
 *
 * @module
 */
import type { UpstreamStatus } from "../../gateway/upstream/upstream_definition.ts";
import {
  addStoredUpstream,
  createUpstreamSealer,
  listStoredUpstreams,
  removeStoredUpstream,
  upstreamKey,
} from "../../gateway/stored/stored_upstream.ts";
import type { McpServer } from "../../gateway/upstream/configuration/configuration.ts";
import { endUpstreamConnections } from "../../oauth/connection_records.ts";
import type { Store } from "../../store/store.ts";
import { createSearch, type Page, pageInput, pageOf, type PageQuery } from "../list_page.ts";
import {
  type AdminContext,
  AdminError,
  type AdminOperation,
  COMMAND_LINE,
  notFound,
  refuseInvalid,
  type Schema,
  toIso,
} from "../operation.ts";
import { count, input, mapOf, object, oneOf, orNull, text, texts, time } from "../schema.ts";

/** An upstream in an answer. */
export interface AdminUpstream {
  readonly name: string;
  /** The URL without its query, or the command without its arguments. */
  readonly server: string;
  readonly source: "store" | "configuration";
  readonly added: string | null;
  /** At the instance that answers; `null` where no gateway runs, as on the command line. */
  readonly state: UpstreamStatus["state"] | null;
  readonly revision: string | null;
  readonly tools: number;
  readonly sessions: number;
  readonly running: number;
  readonly left_out: readonly string[];
  readonly last_error: string | null;
}

const STATES = ["idle", "connecting", "connected", "connection_required", "failed", "open"] as const;
const NAME: Schema = text("the name, which tools begin with", { min: 1, max: 100 });
const UPSTREAM_OBJECT = object({
  name: NAME,
  server: text("the URL without its query, or the command without its arguments", { max: 8192 }),
  source: oneOf(
    ["store", "configuration"],
    "whether an administrator added it, or the server's configuration",
  ),
  added: orNull(time("when it was added to the store")),
  state: orNull(oneOf(STATES, "at the instance that answers; open: paused after failures")),
  revision: orNull(text("the revision of MCP that was negotiated")),
  tools: count("how many tools it has"),
  sessions: count("users with an open connection, or 1 for all together"),
  running: count("calls that run"),
  left_out: texts("entries that are not offered, and why", 8192),
  last_error: orNull(text("the last error", { max: 8192 })),
});

/** The path of an upstream. */
export interface UpstreamPath {
  readonly upstream: string;
}

/** What `addUpstream` gets: a member of `mcpServers`, with its name. */
export type UpstreamInput = { readonly name: string } & Readonly<Record<string, unknown>>;

export const listUpstreams: AdminOperation<PageQuery, Page<AdminUpstream>> = {
  name: "listUpstreams",
  method: "GET",
  path: "/upstreams",
  summary: "List the MCP servers behind the gateway",
  input: pageInput(),
  output: pageOf(UPSTREAM_OBJECT),
  async run(context, { limit = 20, page, search }) {
    const isFound = createSearch<AdminUpstream>(search, ({ name, server }) => [name, server]);
    const all = (await readAll(context)).filter((each) => !isFound || isFound(each));
    const from = page === undefined ? 0 : all.findIndex(({ name }) => name > page);
    const data = from < 0 ? [] : all.slice(from, from + limit);
    const more = from >= 0 && from + limit < all.length;
    return { data, has_more: more, next_page: more ? data.at(-1)!.name : null };
  },
};

export const addUpstream: AdminOperation<UpstreamInput, AdminUpstream> = {
  name: "addUpstream",
  method: "POST",
  path: "/upstreams",
  summary: "Add an MCP server behind the gateway; every instance offers its tools within seconds",
  input: input({
    name: NAME,
    url: text("the URL of the MCP server", { min: 1, max: 8192 }),
    type: oneOf(["http", "sse", "stdio"], "the transport; found out without it"),
    headers: mapOf(text("the value", { max: 8192 }), "header fields of every request; kept sealed"),
    command: text("a program, where the server trusts its administrators", { min: 1, max: 4096 }),
    args: texts("arguments of the program"),
    env: mapOf(text("the value", { max: 8192 }), "environment variables of the program; kept sealed"),
    cwd: text("the folder of the program", { max: 4096 }),
    prefix: text("the beginning of the names of tools, in place of the name", { max: 40 }),
    tools: texts("names of tools to offer, with * and ?; all without it"),
    scopes: texts("scopes that callers need"),
    timeout: { type: "number", description: "seconds without any message after which a call has failed" },
    auth: { type: "object", description: 'how users authenticate to it, such as {"type":"oauth"}' },
  }, ["name"]),
  output: UPSTREAM_OBJECT,
  subject: (_, { name }) => name,
  async run(context, { name, ...server }) {
    const isAdded = await refuseInvalid(() => add(context, name, server as unknown as McpServer));
    if (!isAdded) throw new AdminError("conflict_error", `name: ${JSON.stringify(name)} is taken`);
    return await getUpstream(context, name);
  },
};

export const showUpstream: AdminOperation<UpstreamPath, AdminUpstream> = {
  name: "showUpstream",
  method: "GET",
  path: "/upstreams/:upstream",
  summary: "Show an MCP server behind the gateway, and its state at the instance that answers",
  input: input({ upstream: NAME }, ["upstream"]),
  output: UPSTREAM_OBJECT,
  async run(context, { upstream }) {
    return await getUpstream(context, upstream);
  },
};

export const removeUpstream: AdminOperation<UpstreamPath, void> = {
  name: "removeUpstream",
  method: "DELETE",
  path: "/upstreams/:upstream",
  summary: "Remove an MCP server that an administrator added, and end its users' connections",
  input: input({ upstream: NAME }, ["upstream"]),
  output: undefined,
  subject: ({ upstream }) => upstream,
  async run(context, { upstream }) {
    const { gateway, store } = context;
    const isRemoved = gateway
      ? await gateway.stored.remove(upstream)
      : await removeWithoutGateway(store, upstream);
    if (isRemoved) return;
    const isConfigured = gateway?.status().some(({ name }) => name === upstream);
    if (!isConfigured) throw notFound("Upstream", upstream);
    throw new AdminError(
      "conflict_error",
      `${JSON.stringify(upstream)} is part of the server's configuration: remove it there`,
    );
  },
};

/** The operations of this file. */
export const UPSTREAM_OPERATIONS: readonly AdminOperation[] = [
  listUpstreams,
  addUpstream,
  showUpstream,
  removeUpstream,
];

async function add(context: AdminContext, name: string, server: McpServer): Promise<boolean> {
  const { gateway, store, actor, now } = context;
  if (gateway) return await gateway.stored.add(name, server, { isNew: true });
  if (actor !== COMMAND_LINE) {
    throw new TypeError("This server has no gateway. Start it with --gateway");
  }
  // Who runs commands on the machine may have it run programs, and reaches its network anyway.
  const options = { isNew: true, isTrusted: true, now };
  const sealer = createUpstreamSealer(context.providers.secret);
  return await addStoredUpstream(store, sealer, name, server, options) !== undefined;
}

/** Removes one from the store. A gateway revokes the tokens later. */
async function removeWithoutGateway(store: Store, name: string): Promise<boolean> {
  // A name that is not in the store may be in a configuration, whose users stay connected.
  if (!await store.get(upstreamKey(name))) return false;
  await endUpstreamConnections(store, name);
  const isRemoved = await removeStoredUpstream(store, name);
  await endUpstreamConnections(store, name);
  return isRemoved;
}

async function readAll({ store, gateway }: AdminContext): Promise<AdminUpstream[]> {
  const states = new Map(gateway?.status().map((status) => [status.name, status]));
  const all: AdminUpstream[] = [];
  for await (const { stored: { name, server, added } } of listStoredUpstreams(store)) {
    all.push(toAdminUpstream({ name, server, source: "store", added: toIso(added) }, states.get(name)));
    states.delete(name);
  }
  for (const status of states.values()) {
    const { name, server } = status;
    all.push(toAdminUpstream({ name, server, source: "configuration", added: null }, status));
  }
  return all.sort((a, b) => a.name < b.name ? -1 : 1);
}

async function getUpstream(context: AdminContext, name: string): Promise<AdminUpstream> {
  const found = (await readAll(context)).find((each) => each.name === name);
  if (!found) throw notFound("Upstream", name);
  return found;
}

function toAdminUpstream(
  known: Pick<AdminUpstream, "name" | "server" | "source" | "added">,
  status: UpstreamStatus | undefined,
): AdminUpstream {
  return {
    ...known,
    state: status?.state ?? null,
    revision: status?.revision ?? null,
    tools: status?.counts.tools ?? 0,
    sessions: status?.sessions ?? 0,
    running: status?.running ?? 0,
    left_out: status?.leftOut ?? [],
    last_error: status?.lastError ?? null,
  };
}
