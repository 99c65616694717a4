import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { CallContext } from "../context.ts";
import { tool } from "../definition/definition.ts";
import { call, newServer, STREAMABLE } from "../test_server.ts";

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

test.run();
