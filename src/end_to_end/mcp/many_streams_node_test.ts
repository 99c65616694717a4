import { Agent, request, type RequestOptions } from "node:http";
import { setImmediate } from "node:timers";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createTrivet, memoryStore, tool } from "../../mod.ts";
import { serve } from "../../runtime/node.ts";

const test = suite("many open streams");
const STREAMS = 1000;

test(`a change reaches each of ${STREAMS} idle streams once, and all are released when their clients leave`, async () => {
  let handle: (request: Request) => Promise<Response> = () => Promise.reject(new Error("Not ready"));
  const server = await serve({ fetch: (request) => handle(request) }, { port: 0 });
  const { mcp, fetch: respond } = createTrivet({
    issuer: server.url,
    store: memoryStore(),
    oauth: false,
    skills: false,
    mcp: {
      tools: [tool({ name: "one", description: "One", run: () => "1" })],
      streamLimits: { session: STREAMS, anonymous: STREAMS },
    },
  });
  handle = respond;
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  /** The stream of a new session. */
  const openSession = async (): Promise<RequestOptions> => {
    const params = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
    const started = await fetch(`${server.url}/mcp`, { method: "POST", headers, body });
    await started.text();
    const session = started.headers.get("mcp-session-id")!;
    return { headers: { ...headers, "mcp-protocol-version": "2025-11-25", "mcp-session-id": session } };
  };
  const params = {
    notifications: { toolsListChanged: true },
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  };
  const agent = new Agent({ maxSockets: Infinity });
  const received: string[] = Array(STREAMS).fill("");
  const notified: Promise<void>[] = [];
  /** Resolves when the stream has begun: that of a session, or the response to `subscriptions/listen`. */
  const open = async (i: number): Promise<void> => {
    const isSession = i % 2 === 0;
    const options = isSession ? await openSession() : {
      method: "POST",
      headers: { ...headers, "mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen" },
    };
    const begun = Promise.withResolvers<void>();
    const got = Promise.withResolvers<void>();
    notified.push(got.promise);
    const sent = request(`${server.url}/mcp`, { agent, ...options }, (response) => {
      response.setEncoding("utf8").on("error", () => {}).on("data", (text: string) => {
        received[i] += text;
        if (/^id: |acknowledged/.test(received[i]!)) begun.resolve();
        if (received[i]!.includes("list_changed")) got.resolve();
      });
    });
    sent.on("error", begun.reject);
    sent.end(
      isSession
        ? undefined
        : JSON.stringify({ jsonrpc: "2.0", id: i, method: "subscriptions/listen", params }),
    );
    await begun.promise;
  };
  for (let i = 0; i < STREAMS; i += 50) await Promise.all(Array.from({ length: 50 }, (_, j) => open(i + j)));
  assert.is(mcp!.openStreams(), STREAMS);
  await mcp!.listChanged("tools");
  await Promise.all(notified);
  assert.equal([...new Set(received.map((text) => text.split("list_changed").length - 1))], [1]);
  agent.destroy();
  while (mcp!.openStreams() > 0) await new Promise((resolve) => setImmediate(resolve));
  await server.close();
});

test.run();
