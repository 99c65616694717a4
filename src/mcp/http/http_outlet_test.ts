import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { CallContext } from "../context.ts";
import { tool } from "../definition/define.ts";
import { call, newServer, request, STREAMABLE } from "../test_server.ts";

const test = suite("mcp/http_outlet");

test("a keepAlive above the maximum of timers opens no stream for a silent call", async () => {
  const slow = tool({
    name: "slow",
    description: "Waits",
    run: () => new Promise((resolve) => setTimeout(() => resolve("late"), 20)),
  });
  for (const keepAlive of [3e9, Infinity]) {
    const { headers } = await newServer({ definitions: [slow], keepAlive }).post(call("slow"), STREAMABLE);
    assert.is(headers.get("content-type"), "application/json");
  }
});

test("what a handler sends after its result opens no stream", async () => {
  let later: CallContext | undefined;
  const early = tool({
    name: "early",
    description: "Returns at once",
    run: (_, call) => {
      later = call;
      return "done";
    },
  });
  const { server, post } = newServer({ definitions: [early] });
  const { headers } = await post(call("early"), STREAMABLE);
  assert.is(headers.get("content-type"), "application/json");
  await later!.progress(1);
  await later!.log("info", "late");
  await later!.elicitationCompleted("x");
  await later!.disconnect();
  assert.is(server.openStreams(), 0);
});

test("a call that sends progress gets a stream where Accept includes event streams, else only its result", async () => {
  const reports = tool({
    name: "reports",
    description: "Reports progress",
    async run(_, call) {
      await call.progress(1);
      return "done";
    },
  });
  const { server } = newServer({ definitions: [reports] });
  const body = JSON.stringify(
    request("tools/call", { name: "reports", _meta: { progressToken: "p" } }),
  );
  for (
    const [accept, type] of [
      [STREAMABLE.accept, "text/event-stream"],
      ["application/json", "application/json"],
      ["application/json, text/html", "application/json"],
      ["*/*", "text/event-stream"],
      ["application/json, text/event-stream; q=0.1", "text/event-stream"],
      ["application/json, text/event-stream; q=0", "application/json"],
      ["application/json, text/event-stream; a=b; q=0.0", "application/json"],
      ["text/event-stream;q=0, */*", "application/json"],
      ["text/event-stream; a=b, */*;q=0", "text/event-stream"],
    ] as const
  ) {
    const response = await server.fetch(
      new Request("http://127.0.0.1:8787/mcp", {
        method: "POST",
        body,
        headers: { ...STREAMABLE, accept, "content-type": "application/json" },
      }),
    );
    assert.equal([response.status, response.headers.get("content-type")], [200, type], accept);
    assert.match(await response.text(), '"text":"done"');
  }
});

test.run();
