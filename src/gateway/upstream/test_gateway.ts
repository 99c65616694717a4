/**
 * Test kit of this folder: MCP servers in this process as upstreams, and a server that offers what they offer.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import { METHOD_NOT_FOUND } from "../../jsonrpc/error.ts";
import type { Definitions } from "../../mcp/definition/group.ts";
import { newServer, READER, type TestServer, WRITER } from "../../mcp/test_server.ts";
import type { ToolServerOptions } from "../../mcp/service.ts";
import { createGatewayViews, type ViewsOptions } from "../views/views.ts";
import type { Upstreams } from "./upstream_definition.ts";
import { createUpstreams, type UpstreamsOptions } from "./upstreams.ts";

export const MODERN: string = "2026-07-28";

/** Sends requests to a server in this process, which answers as one of this revision. */
export function fetchOf(server: Pick<TestServer["server"], "fetch">, revision: string = MODERN) {
  return async (url: string, init: RequestInit): Promise<Response> => {
    const request = new Request(url, init);
    if (revision === MODERN || request.method !== "POST") return await server.fetch(request);
    const message = await request.clone().json();
    if (message.method === "server/discover") {
      const error = { code: METHOD_NOT_FOUND, message: "Method not found" };
      return Response.json({ jsonrpc: "2.0", id: message.id, error }, { status: 200 });
    }
    if (message.method !== "initialize") return await server.fetch(request);
    message.params.protocolVersion = revision;
    const { signal, headers } = request;
    return await server.fetch(
      new Request(url, { method: "POST", headers, signal, body: JSON.stringify(message) }),
    );
  };
}

export interface UpstreamServer {
  readonly server: TestServer["server"];
  readonly revision?: string;
}

export interface TestGateway extends TestServer {
  readonly upstreams: Upstreams;
}

/** A gateway before servers in this process, by the name of the upstream. Close its upstreams at the end. */
export async function newGateway(
  servers: Readonly<Record<string, UpstreamServer>>,
  { upstreams: more = {}, server = {}, options = {}, views = {} }: {
    readonly upstreams?: Partial<UpstreamsOptions>;
    readonly server?: Partial<ToolServerOptions>;
    readonly views?: Partial<ViewsOptions>;
    /** Options of every upstream. */
    readonly options?: Readonly<Record<string, unknown>>;
  } = {},
): Promise<TestGateway> {
  // The address of the test server, which it checks; the query says which server is meant.
  const url = (name: string): string => `http://127.0.0.1:8787/mcp?${encodeURIComponent(name)}`;
  const upstreams = createUpstreams({
    mcpServers: Object.fromEntries(
      Object.keys(servers).map((name) => [name, { type: "http", url: url(name), ...options }]),
    ),
    fetch: (url, init) => {
      const { server, revision } = servers[decodeURIComponent(new URL(url).search.slice(1))]!;
      return fetchOf(server, revision)(url, init);
    },
    startTimeout: 20_000,
    ...more,
  });
  await upstreams.ready();
  const gateway = newServer({
    definitions: [],
    views: createGatewayViews({
      list: async (caller: Principal | undefined) => {
        await upstreams.prepare(caller);
        return upstreams.list(caller);
      },
      watch: (onChange) => upstreams.watch(onChange),
      implied: new Map(),
      isShared: () => false,
      onInvalid: (_, error) => {
        throw error;
      },
      ...views,
    }),
    onSubscribed: (uris, caller) => {
      for (const uri of uris) upstreams.subscribe(uri, caller).catch(() => {});
    },
    ...server,
  });
  upstreams.watch(() => {
    for (const list of ["tools", "resources", "prompts"] as const) void gateway.server.listChanged(list);
  });
  upstreams.watchResources((uri, changedFor) => void gateway.server.resourceUpdated(uri, changedFor));
  return { ...gateway, upstreams };
}

/** A server with these definitions, as an upstream. */
export function upstreamOf(definitions: Definitions, revision: string = MODERN): UpstreamServer {
  return { server: newServer({ definitions }).server, revision };
}

export { READER, WRITER };
