/**
 * What a request leaves behind on Node: nothing that lives until a full collection.
 *
 * @module
 */
import { once } from "node:events";
import { connect } from "node:net";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createTrivet, memoryStore, tool } from "../../mod.ts";
import { serve } from "../node.ts";

const test = suite("memory of requests");

// V8 may decide in its first collections to allocate in the old space at once, whatever a request keeps.
setFlagsFromString("--no-allocation-site-pretenuring");

const oldSpace = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === "old_space")!.space_used_size;

test("a tool call leaves nothing that young generation collections keep", async () => {
  const trivet = createTrivet({
    issuer: "http://127.0.0.1",
    store: memoryStore(),
    oauth: false,
    skills: false,
    mcp: {
      tools: [tool({ name: "echo", description: "Echo", input: { type: "object" }, run: () => "text" })],
    },
  });
  const server = await serve(trivet, { port: 0 });
  const body = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}';
  const request = [
    "POST /mcp HTTP/1.1",
    `host: 127.0.0.1:${server.port}`,
    "content-type: application/json",
    "accept: application/json, text/event-stream",
    "mcp-protocol-version: 2025-11-25",
    `content-length: ${body.length}`,
    "",
    body,
  ].join("\r\n");
  const socket = connect(server.port, "127.0.0.1");
  const send = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) {
      socket.write(request);
      const [chunk] = await once(socket, "data");
      assert.match(String(chunk), /^HTTP\/1.1 200 [^]*"text":"text"/);
    }
  };
  try {
    // Until the code is compiled and the first objects are old.
    await send(8000);
    let kept = 0;
    for (let window = 0; window < 20; window++) {
      const before = oldSpace();
      await send(400);
      // A full collection makes it negative.
      kept += Math.max(0, oldSpace() - before);
    }
    // It is 9; with one closure added to each request 600 to 1300.
    assert.ok(kept / 8000 < 200, `${kept / 8000} bytes of a request`);
  } finally {
    socket.destroy();
    await server.close();
  }
});

test.run();
