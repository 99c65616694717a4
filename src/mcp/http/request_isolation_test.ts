import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { tool } from "../definition/define.ts";
import { toolServer } from "../../mcp_service.ts";

const test = suite("mcp/http/request_isolation");

/** Opens two streams of changes. Returns how many watches of the store they use. */
async function countWatches(isIsolated: boolean): Promise<number> {
  const store = memoryStore();
  let watches = 0;
  const watch = store.watch.bind(store);
  store.watch = (prefix) => {
    watches++;
    return watch(prefix);
  };
  const server = toolServer({
    url: "http://127.0.0.1:8787",
    store,
    tools: [tool({ name: "t", description: "A tool", run: () => 1 })],
  });
  const listen = () =>
    server.fetch(
      new Request("http://127.0.0.1:8787/mcp", {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "subscriptions/listen",
        },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "subscriptions/listen",
          params: {
            notifications: { toolsListChanged: true },
            _meta: {
              "io.modelcontextprotocol/protocolVersion": "2026-07-28",
              "io.modelcontextprotocol/clientCapabilities": {},
            },
          },
        }),
      }),
      { ip: undefined, isIsolated },
    );
  const streams = [await listen(), await listen()];
  assert.equal(streams.map(({ status }) => status), [200, 200]);
  // A stream listens once its subscription is acknowledged.
  for (const { body } of streams) {
    const reader = body!.getReader();
    await reader.read();
    reader.releaseLock();
  }
  for (const { body } of streams) await body!.cancel();
  return watches;
}

test("requests share one watch of the store", async () => assert.is(await countWatches(false), 1));

test("isolated requests have a watch each", async () => assert.is(await countWatches(true), 2));

test.run();
