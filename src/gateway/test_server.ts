/**
 * A whole server with a gateway, and the MCP servers behind it. Only tests import this.
 *
 * @module
 */
import type { TrivetEvent } from "../events.ts";
import type { Definition } from "../mcp/definition/definition.ts";
import { tool } from "../mcp/definition/define.ts";
import type { Definitions } from "../mcp/definition/group.ts";
import { type McpServer, toolServer } from "../mcp_service.ts";
import { memoryStore } from "../store/drivers/memory.ts";
import type { Store } from "../store/store.ts";
import { createTrivet } from "../trivet.ts";
import { gateway, type GatewayOptions } from "./gateway.ts";

/** A tool that returns a text. */
export const named = (name: string, text: string = name): Definition =>
  tool({ name, description: text, run: () => text });

/** MCP servers by host. */
export interface TestUpstreams {
  fetch(url: string, init?: RequestInit): Promise<Response>;
  readonly servers: ReadonlyMap<string, McpServer>;
  readonly requests: Request[];
}

export function upstreams(...hosts: readonly string[]): TestUpstreams {
  const requests: Request[] = [];
  const servers = new Map(hosts.map((host) => {
    const server = toolServer({
      url: `https://${host}`,
      store: memoryStore(),
      definitions: [named("echo", `echo of ${host}`), named("remove")],
    });
    return [host, server];
  }));
  const fetch = async (url: string, init?: RequestInit): Promise<Response> => {
    const request = new Request(url, init);
    requests.push(request);
    const server = servers.get(new URL(url).hostname);
    if (!server) throw new TypeError("network");
    return await server.fetch(request);
  };
  return { fetch, servers, requests };
}

/** A server with a gateway. */
export interface Started {
  readonly trivet: ReturnType<typeof createTrivet>;
  readonly events: TrivetEvent[];
  // Tests read responses of any shape.
  // deno-lint-ignore no-explicit-any
  rpc(method: string, params?: object): Promise<Record<string, any>>;
  names(): Promise<string[]>;
}

const started: Started["trivet"][] = [];

/** Closes the gateways of all servers: for `test.after`. */
export async function closeAll(): Promise<void> {
  for (const { gateway } of started) await gateway!.close();
}

export function start(
  options: GatewayOptions,
  store: Store = memoryStore(),
  definitions: Definitions = [named("own")],
): Started {
  const events: TrivetEvent[] = [];
  const trivet = createTrivet({
    issuer: "http://127.0.0.1:8787",
    store,
    skills: false,
    gateway: gateway(options),
    mcp: { definitions },
    onEvent: (event) => events.push(event),
  });
  started.push(trivet);
  const rpc: Started["rpc"] = async (method, params) => {
    const response = await trivet.fetch(
      new Request("http://127.0.0.1:8787/mcp", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      }),
    );
    return await response.json();
  };
  const names = async () => (await rpc("tools/list")).result.tools.map((each: { name: string }) => each.name);
  return { trivet, events, rpc, names };
}
