import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import type { Store } from "../../store/store.ts";
import { tool, ToolError } from "../definition/definition.ts";
import { DEFINITIONS, newServer, WRITER } from "../test_server.ts";
import { watchedStore } from "../instances/test_watched_store.ts";

const test = suite("mcp/stdio");

/** Writes chunks and returns the lines of the output. */
async function talk(
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

test("one message per line, one response per line", async () => {
  assert.equal(await talk([ping(1) + "\n" + ping("b") + "\n"]), [
    '{"jsonrpc":"2.0","id":1,"result":{}}',
    '{"jsonrpc":"2.0","id":"b","result":{}}',
  ]);
});

test("chunks may end anywhere, also inside a character; lines may end with CR LF; blank lines are ignored", async () => {
  const bytes = new TextEncoder().encode(`\n\r\n${ping("ü𝄞")}\r\n   \n${ping(2)}`);
  const split = Array.from(bytes, (byte) => Uint8Array.of(byte));
  assert.equal(ids(await talk(split)), ["ü𝄞", 2]);
});

test("a byte order mark before a line is ignored; inside a line it is a character", async () => {
  const encoder = new TextEncoder();
  const lines = [ping("\ufeffa"), "\ufeff" + ping("b\ufeff")].join("\n");
  const bytes = encoder.encode("\ufeff" + lines);
  assert.equal(ids(await talk([bytes])), ["\ufeffa", "b\ufeff"]);
  assert.equal(ids(await talk(Array.from(bytes, (byte) => Uint8Array.of(byte)))), ["\ufeffa", "b\ufeff"]);
  const at = encoder.encode("\ufeff" + lines.slice(0, lines.indexOf("\ufeff"))).length;
  assert.equal(ids(await talk([bytes.subarray(0, at), bytes.subarray(at)])), ["\ufeffa", "b\ufeff"]);
});

test("the last line needs no line break", async () => {
  assert.equal(ids(await talk([ping(1)])), [1]);
});

test("notifications are not answered; invalid JSON is -32700 with id null, and the next line is read", async () => {
  const lines = await talk(['{"jsonrpc":"2.0","method":"notifications/initialized"}\nnot json\n', ping(3)]);
  assert.equal(lines.map((line) => JSON.parse(line)).map(({ id, error }) => [id, error?.code]), [
    [null, -32700],
    [3, undefined],
  ]);
});

test("a batch is answered with one line", async () => {
  const [list] = await talk([`[${ping(1)},${ping(2)}]\n`]);
  assert.equal(JSON.parse(list!).map((answer: { id: unknown }) => answer.id), [1, 2]);
  const [error] = await talk(["[]\n"]);
  assert.is(JSON.parse(error!).error.code, -32600);
});

test("a line over 4 MiB is refused once and skipped", async () => {
  const long = "x".repeat(1024 * 1024);
  const lines = await talk([long, long, long, long, long, long, "\n", ping(9)]);
  assert.equal(lines.map((line) => JSON.parse(line)).map(({ id, error }) => [id, error?.code]), [
    [null, -32600],
    [9, undefined],
  ]);
});

test("a line of 4 MiB is read, whatever its characters, and one byte more is refused", async () => {
  const fill = (size: number) => {
    const head = '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"';
    const left = size - head.length - 3;
    return head + "ü".repeat(left / 2) + "x".repeat(left % 2) + '"}}';
  };
  const most = 4 * 1024 * 1024;
  const lines = await talk([fill(most) + "\n" + fill(most + 1) + "\r\n", ping(9)]);
  const codes = new Map(lines.map((line) => JSON.parse(line)).map(({ id, error }) => [id, error?.code]));
  assert.equal([codes.get(1), codes.get(null), codes.get(9), codes.size], [undefined, -32600, undefined, 3]);
});

test("a line that is not UTF-8, or ends within a character, is -32700, and the next line is read", async () => {
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
      const answers = (await talk(chunks)).map((line) => JSON.parse(line));
      assert.equal(answers.map(({ id, error }) => [id, error?.code]), [
        [null, -32700],
        [2, undefined],
        [null, -32700],
      ]);
    }
  }
});

test("chunks are copied: the input may reuse its buffer", async () => {
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

test("when the input ends, running calls are still answered", async () => {
  const slow = tool({
    name: "slow",
    description: "Waits",
    run: () => new Promise((resolve) => setTimeout(() => resolve("late"), 50)),
  });
  const call = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}';
  const lines = await talk([call + "\n" + ping(2)], [slow]);
  assert.equal(ids(lines), [2, 1], "a quick call does not wait for a slow one");
  assert.is(JSON.parse(lines[1]!).result.content[0].text, "late");
});

test("when the input ends, calls that do not finish are cancelled, and then abandoned", async () => {
  const told: string[] = [];
  const definitions = [
    tool({ name: "hangs", description: "Never ends", run: () => new Promise(() => {}) }),
    tool({
      name: "listens",
      description: "Ends when it is told to",
      run: (_, { signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => {
            told.push((signal.reason as Error).name);
            reject(signal.reason);
          });
        }),
    }),
  ];
  const one = (id: number, name: string) =>
    `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}"}}`;
  const lines = await talk(
    [`${one(1, "hangs")}\n${one(2, "listens")}\n[${one(3, "listens")}]\n`],
    definitions,
  );
  const answers = lines.map((line) => JSON.parse(line)).flat();
  assert.equal(told, ["AbortError", "AbortError"]);
  assert.equal(
    answers.map(({ id, error, result }) => [id, error?.code, result?.isError]),
    [[3, undefined, true], [1, -32603, undefined], [2, -32603, undefined]],
  );
});

const asks = tool({
  name: "asks",
  description: "Asks until it is answered",
  async run(_, call) {
    for (let i = 0; i < 3; i++) {
      try {
        return (await call.listRoots()).length;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    }
    throw new ToolError("Nobody answers");
  },
});
const hello = JSON.stringify({
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: { roots: {} } },
}) + "\n";
const ask = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"asks"}}\n';

test("when the input ends, no tool waits for the client, also with a new request", async () => {
  const lines = await talk([hello + ask], [asks]);
  assert.match(JSON.parse(lines.at(-1)!).result.content[0].text, /Nobody answers/);
});

test("null in place of an error object is an error response", async () => {
  const { server } = newServer({ definitions: [asks] });
  const encoder = new TextEncoder();
  const lines: string[] = [];
  let feed!: ReadableStreamDefaultController<Uint8Array>;
  const input = new ReadableStream<Uint8Array>({ start: (controller) => void (feed = controller) });
  const output = new WritableStream<Uint8Array>({
    write(chunk) {
      lines.push(new TextDecoder().decode(chunk));
      const { id, method } = JSON.parse(lines.at(-1)!);
      if (method === "roots/list") {
        feed.enqueue(encoder.encode(JSON.stringify({ jsonrpc: "2.0", id, error: null }) + "\n"));
      } else if (id === 1) feed.close();
    },
  });
  feed.enqueue(encoder.encode(hello + ask));
  await server.serveStdio(input, output);
  assert.match(lines.at(-1)!, /Nobody answers/);
});

test("a result that JSON cannot represent is an internal error", async () => {
  const big = tool({ name: "big", description: "Gives it", run: () => ({ content: [], _meta: { of: 1n } }) });
  const one = (id: number) => `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"big"}}`;
  const lines = await talk([`${one(1)}\n[${one(2)}]\n`], [big]);
  const answers = lines.map((line) => JSON.parse(line)).flat();
  assert.equal(answers.map(({ id, error }) => [id, error.code]), [[1, -32603], [2, -32603]]);
});

test("a batch must not contain initialize, nor a revision in _meta", async () => {
  const meta = { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } };
  const modern = JSON.stringify([{ jsonrpc: "2.0", id: 1, method: "tools/list", params: meta }]);
  const lines = await talk([`[${hello.trim()}]\n${modern}\n`]);
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

test("of two subscriptions with the same id, and of one cancelled at its start, nothing stays open", async () => {
  const watched = watchedStore(memoryStore());
  const cancel = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}\n';
  const lines = await talk([listen(1) + listen(1) + listen(2) + cancel], DEFINITIONS, watched.store);
  const ended = lines.map((line) => JSON.parse(line)).filter(({ result }) => result);
  assert.equal(ended.map(({ id }) => id), [1]);
  assert.is(watched.watches(), 0);
});

test("a request is answered when the store fails", async () => {
  const watched = watchedStore(memoryStore());
  watched.fails = true;
  const [line] = await talk([listen(1)], DEFINITIONS, watched.store);
  assert.equal([JSON.parse(line!).id, JSON.parse(line!).error.code], [1, -32603]);
});

test("when the input or output fails, no listener remains", async () => {
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

test("the principal of the process may call tools that require its scopes", async () => {
  const [line] = await talk(['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"secret"}}']);
  assert.is(JSON.parse(line!).result.content[0].text, "writer");
});

test.run();
