/**
 * `send` over standard input and output: responses, silence, invalid lines, and servers that hang, exit,
 * flood or do not exit.
 *
 * @module
 */
import process from "node:process";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Target } from "../target/target.ts";
import { runOne, testTarget } from "../test_run.ts";
import type { Step } from "../vector/vector_file.ts";

const test = suite("send_stdio");

function target(...more: readonly string[]): Target {
  const file = fileURLToPath(new URL("../test_stdio_server.ts", import.meta.url));
  const run = "Deno" in globalThis ? ["run", "-A", "--no-check", "--quiet"] : [];
  return testTarget(() => new Response(), {
    sender: undefined,
    features: new Set(["stdio"]),
    stdio: { command: [process.execPath, ...run, file, ...more] },
    limits: { seconds: 4, bytes: 500_000 },
  });
}

const ask = (method: string, id: number | string = 1) => ({ jsonrpc: "2.0", id, method });

async function outcome(steps: readonly Step[], ...more: readonly string[]): Promise<string> {
  const { outcome, reason } = await runOne(target(...more), steps);
  return reason === undefined ? outcome : `${outcome}: ${reason}`;
}

test("a request has its response", async () => {
  const messages = [{ id: 1, result: "right" }];
  assert.is(await outcome([{ send: [ask("right")], expect: { messages } }]), "pass");
});

test("a step waits for every response, in the order of arrival", async () => {
  const messages = [{ id: 2, result: "right" }, { id: 1, result: "late" }];
  assert.is(await outcome([{ send: [ask("late", 1), ask("right", 2)], expect: { messages } }]), "pass");
});

test("a notification needs no response: a request after it shows the silence", async () => {
  const send = [{ jsonrpc: "2.0", method: "nothing" }, ask("right")];
  assert.is(await outcome([{ send, expect: { messages: [{ id: 1 }] } }]), "pass");
});

test("text that is not JSON is sent unchanged, and until ends the wait", async () => {
  const messages = [{ id: null, error: { code: -32700 } }];
  assert.is(await outcome([{ send: ["{not json"], until: { id: null }, expect: { messages } }]), "pass");
});

test("the response to a batch is an array", async () => {
  const messages = [[{ id: 1 }, { id: 2 }]];
  assert.is(await outcome([{ send: [[ask("a", 1), ask("b", 2)]], expect: { messages } }]), "pass");
});

test("a line that is not UTF-8 is not JSON", async () => {
  const messages = [{ unparsable: '"\ufffd"' }, { id: 1 }];
  assert.is(await outcome([{ send: [ask("broken")], expect: { messages } }]), "pass");
});

test("a line that is not JSON is recorded", async () => {
  const messages = [{ method: "notice" }, { unparsable: "this is not JSON" }, { id: 1 }];
  assert.is(await outcome([{ send: [ask("noisy")], expect: { messages } }]), "pass");
});

test("one process serves all steps of a vector", async () => {
  const step = { send: [ask("right")], expect: { messages: [{ id: 1 }] } };
  assert.is(await outcome([step, step, { end: true, expect: { exit: 0 } }]), "pass");
});

test("a server that hangs fails with its time limit", async () => {
  const slow = { ...target(), limits: { seconds: 1.5, bytes: 1000 } };
  const { outcome, reason } = await runOne(slow, [{ send: [ask("right"), ask("hang", 2)] }]);
  assert.is(outcome, "fail");
  assert.match(reason!, /\(hung\).*1\.5 s/);
});

test("a message without a line end is no message, and the reason has its size", async () => {
  const slow = { ...target(), limits: { seconds: 1.5, bytes: 1000 } };
  const { outcome, reason } = await runOne(slow, [{ send: [ask("endless")] }]);
  assert.is(outcome, "fail");
  assert.match(reason!, /\(hung\).*1\.5 s.*\b36 bytes/);
});

test("a server that exits fails with its exit code", async () => {
  assert.match(await outcome([{ send: [ask("leave")] }]), /^fail: .*\(closed\).*\b3\b/);
});

test("a server that floods fails and is ended", async () => {
  assert.match(await outcome([{ send: [ask("flood")] }]), /^fail: .*flooded/);
});

test("a server that does not exit at the end of input fails", async () => {
  const { limits: _, ...rest } = target("--stays");
  const stays = { ...rest, limits: { seconds: 1, bytes: 1000 } };
  const { outcome, reason } = await runOne(stays, [{ send: [ask("right")] }, {
    end: true,
    expect: { exit: 0 },
  }]);
  assert.is(outcome, "fail");
  assert.match(reason!, /hung/);
});

test("a command that cannot be started is refused", async () => {
  const missing = { ...target(), stdio: { command: ["there-is-no-such-command"] } };
  const { outcome, reason } = await runOne(missing, [{ send: [ask("right")] }]);
  assert.is(outcome, "setup");
  assert.match(reason!, /refused.*there-is-no-such-command/);
});

test.run();
