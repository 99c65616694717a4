/**
 * The client against servers made with the official library of the first generation, over each of its transports.
 *
 * @module
 */
// @ts-types="../../../node_modules/@modelcontextprotocol/sdk/dist/esm/server/index.d.ts"
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
// @ts-types="../../../node_modules/@modelcontextprotocol/sdk/dist/esm/server/sse.d.ts"
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
// @ts-types="../../../node_modules/@modelcontextprotocol/sdk/dist/esm/server/webStandardStreamableHttp.d.ts"
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
// @ts-types="../../../node_modules/@modelcontextprotocol/sdk/dist/esm/types.d.ts"
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { launchProcess } from "../../runtime/launch_process.ts";
import type { ClientTransport } from "../../mcp_client/transport.ts";
import { createMcpClient } from "../../mcp_client/create_client.ts";
import { failure, type Loose, URL_OF_TESTS } from "../../mcp_client/test_servers.ts";
import { httpTransport } from "../../mcp_client/transports/http_transport.ts";
import { processTransport } from "../../mcp_client/transports/process_transport.ts";

const test = suite("mcp client/sdk servers");

/** A server of the library with one tool, `t`, whose argument says what it does. */
function newServer(): Loose {
  const server = new Server({ name: "sdk", version: "1" }, {
    capabilities: { tools: { listChanged: true }, logging: {}, resources: { subscribe: true } },
  });
  server.setRequestHandler(SetLevelRequestSchema, () => ({}));
  server.setRequestHandler(SubscribeRequestSchema, ({ params }: Loose) => {
    queueMicrotask(() => server.sendResourceUpdated({ uri: params.uri }));
    return {};
  });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [{ name: "t", inputSchema: { type: "object" } }],
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }: Loose, extra: Loose) => {
    const text = (value: unknown) => ({ content: [{ type: "text", text: JSON.stringify(value) }] });
    const { what } = params.arguments;
    const form = { message: "?", requestedSchema: { type: "object" as const, properties: {} } };
    if (what === "elicit on the stream of the call") {
      return text(await server.elicitInput(form, { relatedRequestId: extra.requestId }));
    }
    if (what === "elicit on its own") return text(await server.elicitInput(form));
    if (what === "progress") {
      const { progressToken } = params._meta;
      for (const progress of [1, 2]) {
        await extra.sendNotification({
          method: "notifications/progress",
          params: { progressToken, progress },
        });
      }
      return text("done");
    }
    if (what === "wait") {
      return await new Promise((resolve) =>
        extra.signal.addEventListener("abort", () => resolve(text("late")))
      );
    }
    await server.sendToolListChanged();
    return text("changed");
  });
  return server;
}

/** Starts the server over a transport. */
type Start = () => Promise<{ transport: ClientTransport; stop(): Promise<void> | void }>;

const STARTS: Record<string, Start> = {
  async "Streamable HTTP"() {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => "session-of-sdk",
    });
    await newServer().connect(transport);
    const fetch = (url: string, init: RequestInit) => transport.handleRequest(new Request(url, init));
    return { transport: httpTransport({ url: URL_OF_TESTS, fetch }), stop: () => transport.close() };
  },
  async "Streamable HTTP with JSON"() {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => "session-of-sdk",
      enableJsonResponse: true,
    });
    await newServer().connect(transport);
    const fetch = (url: string, init: RequestInit) => transport.handleRequest(new Request(url, init));
    return { transport: httpTransport({ url: URL_OF_TESTS, fetch }), stop: () => transport.close() };
  },
  async "HTTP+SSE"() {
    let transport: SSEServerTransport | undefined;
    const server = createServer(async (request, response) => {
      if (request.method === "GET") {
        transport = new SSEServerTransport("/messages", response);
        await newServer().connect(transport);
      } else if (request.url?.startsWith("/messages")) await transport!.handlePostMessage(request, response);
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    return {
      transport: httpTransport({ url: `http://127.0.0.1:${port}/sse` }),
      stop: () =>
        new Promise<void>((resolve) => {
          server.close(() => resolve());
          server.closeAllConnections();
        }),
    };
  },
  stdio() {
    const launch = launchProcess({
      // Also where PATH has an older Node, which cannot run TypeScript.
      command: fileURLToPath(new URL("../../../node_modules/.bin/node", import.meta.url)),
      closeTimeout: 300,
      args: [fileURLToPath(import.meta.url), "serve"],
      cwd: fileURLToPath(new URL("../../..", import.meta.url)),
    });
    return Promise.resolve({ transport: processTransport(launch), stop() {} });
  },
};

async function serve(): Promise<void> {
  const { StdioServerTransport } = await import("@modelcontextprotocol/sdk/server/stdio.js");
  await newServer().connect(new StdioServerTransport());
}

for (const [name, start] of Object.entries(STARTS)) {
  test(`${name}: calls, input, progress, cancellation and notifications`, async () => {
    const { transport, stop } = await start();
    const noted: string[] = [];
    let onNoted = (): void => {};
    const client = createMcpClient({
      transport,
      name: "test",
      version: "1",
      capabilities: { elicitation: { form: {} } },
      onNotification: (method) => {
        noted.push(method);
        onNoted();
      },
    });
    const untilNoted = async (method: string): Promise<void> => {
      while (!noted.includes(method)) await new Promise<void>((resolve) => onNoted = resolve);
    };
    const info = await client.connect();
    assert.equal([info.revision, info.serverInfo.name], ["2025-11-25", "sdk"]);
    assert.equal((await client.listAll("tools")).map(({ name }) => name), ["t"]);
    const run = async (what: string, exchange?: Parameters<typeof client.request>[2]) => {
      const { content } = await client.request(
        "tools/call",
        { name: "t", arguments: { what } },
        exchange,
      ) as Loose;
      return JSON.parse(content[0].text);
    };
    const onServerRequest = () => Promise.resolve({ action: "accept", content: {} });
    // With JSON responses, the library has no stream of a call to ask on.
    const asks = name === "Streamable HTTP with JSON"
      ? ["elicit on its own"]
      : ["elicit on the stream of the call", "elicit on its own"];
    for (const what of asks) {
      assert.equal(await run(what, { onServerRequest }), { action: "accept", content: {} }, what);
    }
    if (name !== "Streamable HTTP with JSON") {
      const progress: number[] = [];
      assert.is(await run("progress", { onProgress: (each) => progress.push(each) }), "done");
      assert.equal(progress, [1, 2]);
    }
    const abort = new AbortController();
    const waiting = failure(run("wait", { signal: abort.signal }));
    assert.is(await run("change"), "changed");
    abort.abort(new Error("enough"));
    assert.is((await waiting).message, "enough");
    await untilNoted("notifications/tools/list_changed");
    await client.subscribe("test://a");
    await untilNoted("notifications/resources/updated");
    await client.close();
    await stop();
  });
}

if (process.argv[2] === "serve") await serve();
else test.run();
