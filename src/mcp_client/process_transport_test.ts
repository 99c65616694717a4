/**
 * Processes that flood, babble, stay silent or end, and requests on a channel that all calls share.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { McpClientOptions } from "./client.ts";
import { createMcpClient } from "./create_client.ts";
import { McpError } from "./error.ts";
import { failure, type Loose, type ScriptedProcess, scriptedProcess } from "./test_servers.ts";
import { processTransport } from "./transports/process_transport.ts";

const test = suite("mcp client/process");

const line = (message: unknown) => `${JSON.stringify(message)}\n`;
const respond = (script: ScriptedProcess, id: unknown, result: unknown) =>
  script.send(line({ jsonrpc: "2.0", id, result }));

/** A process of 2025-11-25 that is connected. */
async function connect(
  onMessage: (message: Loose, script: ScriptedProcess) => void,
  options: Partial<McpClientOptions> = {},
) {
  const script = scriptedProcess((message, script) => {
    if (message.method === "initialize") {
      const { protocolVersion } = message.params;
      respond(script, message.id, { protocolVersion, capabilities: { tools: {} }, serverInfo: {} });
    } else if (message.method !== "notifications/initialized") onMessage(message, script);
  });
  const ends: (Error | undefined)[] = [];
  const client = createMcpClient({
    transport: processTransport(script),
    name: "t",
    version: "1",
    revision: "2025-11-25",
    onClosed: (reason) => ends.push(reason),
    ...options,
  });
  await client.connect();
  return { client, script, ends };
}

const call = (name = "t") => ({ name, arguments: {} });

test("text before and between messages is ignored, and too much of it ends the process", async () => {
  const { client, script, ends } = await connect(({ id, params }, script) => {
    script.send("Listening\n{not json}\n\n[1,2]\n");
    if (params?.name === "good") respond(script, id, { content: [] });
    else for (let at = 0; at < 200; at++) script.send(`debug ${at}\n`);
  });
  assert.equal(await client.request("tools/call", call("good")), { content: [] });
  const error = await failure(client.request("tools/call", call("bad")));
  assert.equal([error.name, error.reason, error.server], ["ConnectionError", "malformed", "scripted"]);
  assert.is(script.isStopped, true);
  assert.equal(ends, [error]);
});

test("a line beyond the limit ends the process, also without its end", async () => {
  for (const text of [`{"x":"${"x".repeat(1000)}"}\n`, "x".repeat(1001)]) {
    const { client, script } = await connect((_, script) => script.send(text), {
      limits: { messageBytes: 1000 },
    });
    assert.is((await failure(client.request("tools/call", call()))).reason, "too_large");
    assert.is(script.isStopped, true);
  }
});

test("a flood of messages that answer nothing ends the process", async () => {
  let count = 0;
  const { client, script } = await connect(
    (_, script) => {
      const flood = line({ jsonrpc: "2.0", method: "notifications/tools/list_changed" }).repeat(1000);
      while (!script.isStopped && count < 100_000) {
        count += 1000;
        script.send(flood);
      }
    },
    { onNotification() {} },
  );
  assert.is((await failure(client.request("tools/call", call()))).reason, "too_large");
  assert.is(script.isStopped, true);
  assert.ok(count <= 21_000, `read ${count}`);
});

test("a process that never answers ends the call, not the connection", async () => {
  const { client, script, ends } = await connect(({ id, params }, script) => {
    if (params?.name === "good") respond(script, id, { content: [] });
  }, { limits: { timeout: 20 } });
  const error = await failure(client.request("tools/call", call()));
  assert.equal([error.reason, error.mayHaveRun], ["timeout", true]);
  assert.equal(await client.request("tools/call", call("good")), { content: [] });
  const cancelled = script.received.find(({ method }) => method === "notifications/cancelled");
  assert.is(cancelled.params.requestId, script.received.find(({ method }) => method === "tools/call").id);
  assert.equal(ends, []);
  await client.close();
});

test("a process that ends rejects all calls, and is not used again", async () => {
  const { client, script, ends } = await connect((_, script) => script.exit("was ended by SIGSEGV"));
  const errors = await Promise.all(
    [call(), call()].map((params) => failure(client.request("tools/call", params))),
  );
  for (const error of errors) {
    assert.equal([error.reason, error.message, error.mayHaveRun], [
      "closed",
      "scripted: was ended by SIGSEGV",
      true,
    ]);
  }
  assert.is((await failure(client.request("tools/call", call()))).mayHaveRun, false);
  assert.is(script.starts, 1);
  assert.equal(ends, [errors[0]]);
});

test("duplicate and unknown ids are ignored", async () => {
  const { client } = await connect(({ id, method }, script) => {
    if (method !== "tools/call") return;
    for (const wrong of [id + 100, String(id), null, undefined, { id }]) {
      respond(script, wrong, { wrong: true });
    }
    respond(script, id, { content: [] });
    respond(script, id, { wrong: true });
  });
  assert.equal(await client.request("tools/call", call()), { content: [] });
  assert.equal(await client.request("tools/call", call()), { content: [] });
  await client.close();
});

/** A process that sends requests to the client, and collects the responses. */
async function connectAsking(options: Partial<McpClientOptions>) {
  const responses = new Map<unknown, Loose>();
  const waiting: (() => void)[] = [];
  const connected = await connect((message, script) => {
    if (message.method === undefined) {
      responses.set(message.id, message.error ?? message.result);
      for (const resume of waiting.splice(0)) resume();
    } else if (message.params?.name === "now") respond(script, message.id, { content: [] });
  }, options);
  const ask = async (id: unknown, method: string, params: unknown = {}): Promise<Loose> => {
    connected.script.send(line({ jsonrpc: "2.0", id, method, params }));
    while (!responses.has(id)) await new Promise<void>((resolve) => waiting.push(resolve));
    return responses.get(id);
  };
  return { ...connected, ask, responses };
}

const FORM = { message: "?", requestedSchema: { type: "object" } };

test("a request of the server goes to the only call; with two it is refused", async () => {
  const { client, ask } = await connectAsking({ capabilities: { elicitation: {}, roots: {} } });
  const asked: string[] = [];
  const start = (name: string, answers: boolean) => {
    const abort = new AbortController();
    const ended = failure(client.request("tools/call", call(name), {
      signal: abort.signal,
      ...(answers && {
        onServerRequest: (method: string) => {
          asked.push(`${name} ${method}`);
          return Promise.resolve({ action: "accept" });
        },
      }),
    }));
    return async () => {
      abort.abort(new Error("over"));
      await ended;
    };
  };
  assert.is((await ask(1, "elicitation/create", FORM)).code, -32600);
  const endFirst = start("first", true);
  assert.equal(await ask(2, "elicitation/create", FORM), { action: "accept" });
  const endSecond = start("second", false);
  // It may belong to the second, whose caller is another user.
  assert.is((await ask(3, "elicitation/create", FORM)).code, -32600);
  await endFirst();
  assert.is((await ask(4, "roots/list")).code, -32600);
  await endSecond();
  assert.equal(asked, ["first elicitation/create"]);
  assert.equal(await ask(5, "ping"), {});
  await client.close();
});

test("what was not declared is refused, and errors do not show what they say", async () => {
  const secret = new Error("the password is hunter2");
  const { client, ask } = await connectAsking({
    capabilities: { elicitation: { url: {} }, sampling: {}, roots: {} },
    onServerRequest: (method, { kind }) => {
      if (method === "roots/list") throw secret;
      if (kind === "cycle") {
        const cycle: Loose = {};
        cycle.cycle = cycle;
        return Promise.resolve(cycle);
      }
      return Promise.reject(new McpError(-1, "the user rejected it", kind === "bigint" ? 1n : undefined));
    },
  });
  assert.is((await ask(1, "elicitation/create", FORM)).code, -32601);
  assert.is((await ask(2, "unknown/method")).code, -32601);
  const failed = { code: -32603, message: "The client could not answer" };
  assert.equal(await ask(3, "roots/list"), failed);
  assert.equal(await ask(4, "elicitation/create", { ...FORM, mode: "url" }), {
    code: -1,
    message: "the user rejected it",
  });
  assert.equal(await ask(5, "sampling/createMessage", { kind: "cycle" }), failed);
  assert.equal(await ask(6, "sampling/createMessage", { kind: "bigint" }), failed);
  await client.close();
});

test("an answer stops when the server cancels its request, or the call ends", async () => {
  const signals: AbortSignal[] = [];
  const { client, script, responses } = await connectAsking({ capabilities: { sampling: {} } });
  const abort = new AbortController();
  const ended = failure(client.request("tools/call", call(), {
    signal: abort.signal,
    onServerRequest: (_method, _params, signal) => {
      signals.push(signal);
      return new Promise(() => {});
    },
  }));
  for (const id of ["a", "b"]) script.send(line({ jsonrpc: "2.0", id, method: "sampling/createMessage" }));
  script.send(line({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "a" } }));
  assert.equal(signals.map(({ aborted }) => aborted), [true, false]);
  abort.abort(new Error("over"));
  await ended;
  assert.equal(signals.map(({ aborted }) => aborted), [true, true]);
  await client.close();
  assert.equal([...responses.keys()], []);
});

test("requests of the server at the same time are limited", async () => {
  const { client, script, responses } = await connectAsking({
    capabilities: { sampling: {} },
    onServerRequest: () => new Promise(() => {}),
  });
  for (let id = 0; id < 150; id++) {
    script.send(line({ jsonrpc: "2.0", id, method: "sampling/createMessage" }));
  }
  assert.equal(await client.request("tools/call", call("now")), { content: [] });
  assert.is(responses.size, 50);
  await client.close();
});

test.run();
