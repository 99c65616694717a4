/**
 * Streams end when their token is no longer valid: revoked, or of a removed user, client or key. They stay open while the
 * store is unavailable.
 *
 * @module
 */
import { suite } from "uvu";
import { StoreUnavailableError } from "../store/store.ts";
import { resource, tool } from "./definition/define.ts";
import { createSseHandlers } from "./http/http_sse.ts";
import type { ToolServer } from "./service.ts";
import {
  client,
  type EventReader,
  modernHeaders,
  modernParams,
  readEvents,
  session,
} from "./test_exchange.ts";
import { newServer } from "./test_server.ts";
import { until } from "../test_until.ts";

const test = suite("mcp: streams of revoked tokens");
const definitions = [
  resource({ uri: "test://a", name: "a", read: () => "x" }),
  tool({
    name: "hang",
    description: "Runs until it is cancelled",
    async run(_, call) {
      await call.log("error", "began");
      await new Promise((resolve) => call.signal.addEventListener("abort", resolve));
    },
  }),
];

const STREAMS: Readonly<Record<string, (server: ToolServer) => Promise<EventReader>>> = {
  async "subscriptions/listen"(server) {
    const method = "subscriptions/listen";
    const message = { jsonrpc: "2.0", id: 1, method, params: modernParams({ notifications: {} }) };
    return readEvents(await client(server).fetch(message, modernHeaders(method)));
  },
  async "the stream of a session"(server) {
    return readEvents(await (await session(server)).other("GET"));
  },
  async "the rest of a call's stream"(server) {
    const { fetch, other } = await session(server);
    const events = readEvents(
      await fetch({ jsonrpc: "2.0", id: 5, method: "tools/call", params: { name: "hang" } }),
    );
    const { id } = (await events.next())!;
    await events.cancel();
    return readEvents(await other("GET", { "last-event-id": id! }));
  },
  async "HTTP+SSE"(server) {
    const url = "http://127.0.0.1:8787/mcp/sse";
    return readEvents(await server.fetch(new Request(url, { headers: { accept: "text/event-stream" } })));
  },
};

for (const [name, open] of Object.entries(STREAMS)) {
  test(`${name} ends at the first comment after its token is revoked`, async () => {
    let check: () => Promise<boolean> = () => Promise.resolve(true);
    let checks = 0;
    const principal = {
      client: "c",
      workspace: "default",
      scopes: new Set<string>(),
      isStillValid: () => (checks++, check()),
    };
    const { server } = newServer({
      definitions,
      keepAlive: 10,
      sse: createSseHandlers,
      identify: () => Promise.resolve(principal),
    });
    const events = await open(server);
    const pause = async () => {
      const before = checks;
      await until(() => checks >= before + 3, "the token is checked repeatedly");
    };
    await pause();
    check = () => Promise.reject(new StoreUnavailableError("down"));
    await pause();
    check = () => Promise.resolve(false);
    // Reads earlier events until the stream ends.
    while (await events.next() !== undefined);
  });
}

test.run();
