import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import type { Store } from "../../store/store.ts";
import { tool, ToolError } from "../definition/definition.ts";
import { DEFINITIONS, newServer, WRITER } from "../test_server.ts";
import { watchedStore } from "../instances/test_watched_store.ts";

const test = suite("mcp/stdio");

/** Writes chunks to the input and returns the lines of the output. */
async function exchange(
  chunks: readonly (string | Uint8Array)[],
  definitions = DEFINITIONS,
  store: Store = memoryStore(),
): Promise<string[]> {
  const { server } = newServer({ definitions, store });
  const encoder = new TextEncoder();
  const input = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) {
        controller.enqueue(typeof chunk === "string" ? encoder.encode(chunk) : chunk);
      }
      controller.close();
    },
  });
  let text = "";
  const decoder = new TextDecoder();
  const output = new WritableStream<Uint8Array>({
    write: (chunk) => void (text += decoder.decode(chunk, { stream: true })),
  });
  await server.serveStdio(input, output, WRITER);
  assert.ok(text === "" || text.endsWith("\n"));
  return text === "" ? [] : text.trimEnd().split("\n");
}

const ping = (id: unknown) => JSON.stringify({ jsonrpc: "2.0", id, method: "ping" });
const ids = (lines: readonly string[]) => lines.map((line) => JSON.parse(line).id);

test("each line is a message, and each response a line", async () => {
  assert.equal(await exchange([ping(1) + "\n" + ping("b") + "\n"]), [
    '{"jsonrpc":"2.0","id":1,"result":{}}',
    '{"jsonrpc":"2.0","id":"b","result":{}}',
  ]);
});

test("chunks may split characters, lines may end with CR LF, and blank lines are ignored", async () => {
  const bytes = new TextEncoder().encode(`\n\r\n${ping("ü𝄞")}\r\n   \n${ping(2)}`);
  const split = Array.from(bytes, (byte) => Uint8Array.of(byte));
  assert.equal(ids(await exchange(split)), ["ü𝄞", 2]);
});

test("a byte order mark is ignored before a line and kept inside a line", async () => {
  const encoder = new TextEncoder();
  const lines = [ping("\ufeffa"), "\ufeff" + ping("b\ufeff")].join("\n");
  const bytes = encoder.encode("\ufeff" + lines);
  assert.equal(ids(await exchange([bytes])), ["\ufeffa", "b\ufeff"]);
  assert.equal(ids(await exchange(Array.from(bytes, (byte) => Uint8Array.of(byte)))), ["\ufeffa", "b\ufeff"]);
  const at = encoder.encode("\ufeff" + lines.slice(0, lines.indexOf("\ufeff"))).length;
  assert.equal(ids(await exchange([bytes.subarray(0, at), bytes.subarray(at)])), ["\ufeffa", "b\ufeff"]);
});

test("the last line may lack its line end", async () => {
  assert.equal(ids(await exchange([ping(1)])), [1]);
});

test("notifications get no response, invalid JSON gets -32700 with id null, and the next line is read", async () => {
  const lines = await exchange([
    '{"jsonrpc":"2.0","method":"notifications/initialized"}\nnot json\n',
    ping(3),
  ]);
  assert.equal(lines.map((line) => JSON.parse(line)).map(({ id, error }) => [id, error?.code]), [
    [null, -32700],
    [3, undefined],
  ]);
});

test("a batch is answered with one line", async () => {
  const [list] = await exchange([`[${ping(1)},${ping(2)}]\n`]);
  assert.equal(JSON.parse(list!).map((answer: { id: unknown }) => answer.id), [1, 2]);
  const [error] = await exchange(["[]\n"]);
  assert.is(JSON.parse(error!).error.code, -32600);
});

test("a line above 4 MiB is refused once and skipped", async () => {
  const long = "x".repeat(1024 * 1024);
  const lines = await exchange([long, long, long, long, long, long, "\n", ping(9)]);
  assert.equal(lines.map((line) => JSON.parse(line)).map(({ id, error }) => [id, error?.code]), [
    [null, -32600],
    [9, undefined],
  ]);
});

test("a line of exactly 4 MiB is accepted, and one byte more is refused", async () => {
  const fill = (size: number) => {
    const head = '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"';
    const left = size - head.length - 3;
    return head + "ü".repeat(left / 2) + "x".repeat(left % 2) + '"}}';
  };
  const limit = 4 * 1024 * 1024;
  const lines = await exchange([fill(limit) + "\n" + fill(limit + 1) + "\r\n", ping(9)]);
  const codes = new Map(lines.map((line) => JSON.parse(line)).map(({ id, error }) => [id, error?.code]));
  assert.equal([codes.get(1), codes.get(null), codes.get(9), codes.size], [undefined, -32600, undefined, 3]);
});

test("a line with invalid UTF-8 gets -32700, and the next line is read", async () => {
  const encoder = new TextEncoder();
  for (const bytes of [[0xff], [0xf0, 0x9f, 0x92], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xc0, 0x80]]) {
    const broken = [
      ...encoder.encode('{"jsonrpc":"2.0","id":"'),
      ...bytes,
      ...encoder.encode('","method":"ping"}'),
    ];
    const all = Uint8Array.from([
      ...broken,
      10,
      ...encoder.encode(ping(2)),
      10,
      ...encoder.encode("7"),
      ...bytes,
    ]);
    for (const chunks of [[all], Array.from(all, (byte) => Uint8Array.of(byte))]) {
      const answers = (await exchange(chunks)).map((line) => JSON.parse(line));
      assert.equal(answers.map(({ id, error }) => [id, error?.code]), [
        [null, -32700],
        [2, undefined],
        [null, -32700],
      ]);
    }
  }
});

test("the input may reuse the buffer of its chunks", async () => {
  const { server } = newServer();
  const message = { jsonrpc: "2.0", id: "whole", method: "ping", params: { x: "y".repeat(100_000) } };
  const bytes = new TextEncoder().encode(JSON.stringify(message) + "\n");
  const chunk = new Uint8Array(1);
  let at = 0;
  const input = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at === bytes.length) return controller.close();
      chunk[0] = bytes[at++]!;
      controller.enqueue(chunk);
    },
  }, { highWaterMark: 0 });
  let text = "";
  const output = new WritableStream<Uint8Array>({
    write: (chunk) => void (text += new TextDecoder().decode(chunk)),
  });
  await server.serveStdio(input, output);
  assert.equal(JSON.parse(text), { jsonrpc: "2.0", id: "whole", result: {} });
});

test("responses to messages that arrive together are written together, in batches of bounded size", async () => {
  const text = "x".repeat(20_000);
  const long = tool({ name: "long", description: "Gives a long text", run: () => text });
  const { server } = newServer({ definitions: [long] });
  const calls = Array.from(
    { length: 64 },
    (_, id) => `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"long"}}\n`,
  );
  const chunks: string[] = [];
  await server.serveStdio(
    new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(calls.join("")));
        controller.close();
      },
    }),
    new WritableStream<Uint8Array>({ write: (chunk) => void chunks.push(new TextDecoder().decode(chunk)) }),
  );
  assert.equal(ids(chunks.join("").trimEnd().split("\n")), calls.map((_, id) => id));
  assert.ok(chunks.length < 32, `${chunks.length} writes`);
  assert.ok(chunks.every((chunk) => chunk.length < 100_000 && chunk.endsWith("\n")));
});

/** Two streams of Node, as far as they are used: what was written, and the listeners by event. */
function newNodeStreams(failure?: Error) {
  const written: string[] = [];
  const listeners: Record<string, (value: never) => void> = {};
  const input = {
    on: (event: string, listener: (value: never) => void) => void (listeners[event] = listener),
  };
  const output = {
    on: (event: string, listener: (error: Error) => void) => void (listeners[`output ${event}`] = listener),
    write(text: string, onWritten: (error?: Error) => void) {
      written.push(text);
      setTimeout(() => onWritten(failure), 1);
    },
  };
  return {
    input,
    output,
    written,
    emit: (event: string, value?: unknown) => listeners[event]!(value as never),
  };
}

test("streams of Node can be served: split lines, and the end or the close of the input", async () => {
  for (const end of ["end", "close"]) {
    const { input, output, written, emit } = newNodeStreams();
    const { server } = newServer({});
    const served = server.serveStdio(input, output);
    await server.ready();
    await new Promise((resolve) => setTimeout(resolve, 20));
    const bytes = new TextEncoder().encode(`${ping("ü")}\n${ping(2)}\n${ping(3)}`);
    emit("data", bytes.subarray(0, 34));
    emit("data", bytes.subarray(34));
    emit(end);
    await served;
    assert.equal(ids(written.join("").trimEnd().split("\n")), ["ü", 2, 3]);
    assert.ok(written.join("").endsWith("\n"));
  }
});

test("a failure of a stream of Node rejects, and does not end the process", async () => {
  const { input, output, emit } = newNodeStreams(new Error("EPIPE"));
  const { server } = newServer({});
  const outcome = server.serveStdio(input, output).then(() => "ended", (error) => (error as Error).message);
  await new Promise((resolve) => setTimeout(resolve, 20));
  emit("data", new TextEncoder().encode(`${ping(1)}\n`));
  // Without a listener Node ends the process.
  emit("output error", new Error("EPIPE"));
  await new Promise((resolve) => setTimeout(resolve, 10));
  emit("end");
  assert.is(await outcome, "EPIPE");

  const broken = newNodeStreams();
  const failed = server.serveStdio(broken.input, broken.output).then(
    () => "ended",
    (error) => (error as Error).message,
  );
  await new Promise((resolve) => setTimeout(resolve, 20));
  broken.emit("error", new Error("EIO"));
  assert.is(await failed, "EIO");
});

test("running calls are answered after the input has ended", async () => {
  const slow = tool({
    name: "slow",
    description: "Waits",
    run: () => new Promise((resolve) => setTimeout(() => resolve("late"), 50)),
  });
  const call = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}';
  const lines = await exchange([call + "\n" + ping(2)], [slow]);
  assert.equal(ids(lines), [2, 1], "a fast call does not wait for a slow one");
  assert.is(JSON.parse(lines[1]!).result.content[0].text, "late");
});

test("calls that do not finish after the end of the input are cancelled, then abandoned", async () => {
  const aborted: string[] = [];
  const definitions = [
    tool({ name: "hangs", description: "Never ends", run: () => new Promise(() => {}) }),
    tool({
      name: "listens",
      description: "Ends when it is cancelled",
      run: (_, { signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => {
            aborted.push((signal.reason as Error).name);
            reject(signal.reason);
          });
        }),
    }),
  ];
  const one = (id: number, name: string) =>
    `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}"}}`;
  const lines = await exchange(
    [`${one(1, "hangs")}\n${one(2, "listens")}\n[${one(3, "listens")}]\n`],
    definitions,
  );
  const answers = lines.map((line) => JSON.parse(line)).flat();
  assert.equal(aborted, ["AbortError", "AbortError"]);
  assert.equal(
    answers.map(({ id, error, result }) => [id, error?.code, result?.isError]),
    [[3, undefined, true], [1, -32603, undefined], [2, -32603, undefined]],
  );
});

const asks = tool({
  name: "asks",
  description: "Repeats its request until a response",
  async run(_, call) {
    for (let i = 0; i < 3; i++) {
      try {
        return (await call.listRoots()).length;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    }
    throw new ToolError("No response");
  },
});
const hello = JSON.stringify({
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: { roots: {} } },
}) + "\n";
const ask = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"asks"}}\n';

test("after the end of the input no tool waits for the client", async () => {
  const lines = await exchange([hello + ask], [asks]);
  assert.match(JSON.parse(lines.at(-1)!).result.content[0].text, /No response/);
});

test("a null error is an error response", async () => {
  const { server } = newServer({ definitions: [asks] });
  const encoder = new TextEncoder();
  const lines: string[] = [];
  let feed!: ReadableStreamDefaultController<Uint8Array>;
  const input = new ReadableStream<Uint8Array>({ start: (controller) => void (feed = controller) });
  const output = new WritableStream<Uint8Array>({
    write(chunk) {
      for (const line of new TextDecoder().decode(chunk).trimEnd().split("\n")) {
        lines.push(line);
        const { id, method } = JSON.parse(line);
        if (method === "roots/list") {
          feed.enqueue(encoder.encode(JSON.stringify({ jsonrpc: "2.0", id, error: null }) + "\n"));
        } else if (id === 1) feed.close();
      }
    },
  });
  feed.enqueue(encoder.encode(hello + ask));
  await server.serveStdio(input, output);
  assert.match(lines.at(-1)!, /No response/);
});

test("a result that JSON cannot represent is an internal error", async () => {
  const big = tool({ name: "big", description: "Gives it", run: () => ({ content: [], _meta: { of: 1n } }) });
  const one = (id: number) => `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"big"}}`;
  const lines = await exchange([`${one(1)}\n[${one(2)}]\n`], [big]);
  const answers = lines.map((line) => JSON.parse(line)).flat();
  assert.equal(answers.map(({ id, error }) => [id, error.code]), [[1, -32603], [2, -32603]]);
});

test("a batch must not contain initialize, nor a revision in _meta", async () => {
  const meta = { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } };
  const modern = JSON.stringify([{ jsonrpc: "2.0", id: 1, method: "tools/list", params: meta }]);
  const lines = await exchange([`[${hello.trim()}]\n${modern}\n`]);
  assert.equal(lines.map((line) => JSON.parse(line).error.code), [-32600, -32600]);
});

const listen = (id: unknown) =>
  JSON.stringify({
    jsonrpc: "2.0",
    id,
    method: "subscriptions/listen",
    params: {
      notifications: { toolsListChanged: true },
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
      },
    },
  }) + "\n";

test("a repeated subscription id and an immediate cancellation leave no listener", async () => {
  const watched = watchedStore(memoryStore());
  const cancel = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}\n';
  const lines = await exchange([listen(1) + listen(1) + listen(2) + cancel], DEFINITIONS, watched.store);
  const ended = lines.map((line) => JSON.parse(line)).filter(({ result }) => result);
  assert.equal(ended.map(({ id }) => id), [1]);
  assert.is(watched.watches(), 0);
});

test("a store failure gets an error response", async () => {
  const watched = watchedStore(memoryStore());
  watched.fails = true;
  const [line] = await exchange([listen(1)], DEFINITIONS, watched.store);
  assert.equal([JSON.parse(line!).id, JSON.parse(line!).error.code], [1, -32603]);
});

test("a failure of input or output leaves no listener", async () => {
  for (const breaks of ["input", "output"]) {
    const watched = watchedStore(memoryStore());
    const { server } = newServer({ store: watched.store });
    let feed!: ReadableStreamDefaultController<Uint8Array>;
    const input = new ReadableStream<Uint8Array>({ start: (controller) => void (feed = controller) });
    const output = new WritableStream<Uint8Array>({
      write() {
        if (breaks === "output") throw new Error("broken");
      },
    });
    const serving = server.serveStdio(input, output).then(() => "ended", (error) => (error as Error).message);
    feed.enqueue(new TextEncoder().encode(hello + listen(1)));
    await new Promise((resolve) => setTimeout(resolve, 10));
    assert.is(watched.watches(), 1);
    if (breaks === "input") feed.error(new Error("broken"));
    else feed.close();
    assert.is(await serving, "broken");
    assert.is(watched.watches(), 0);
  }
});

test("the scopes of the process's principal apply to tools", async () => {
  const [line] = await exchange([
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"secret"}}',
  ]);
  assert.is(JSON.parse(line!).result.content[0].text, "writer");
});

test.run();
