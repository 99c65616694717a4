import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { tool } from "../definition/define.ts";
import { DEFINITIONS, newServer } from "../test_server.ts";
import { until } from "../../test_until.ts";
import { watchedStore } from "../instances/test_watched_store.ts";
import { ask, asks, exchange, hello, ids, listen, ping } from "./test_stdio.ts";

const test = suite("mcp/stdio");

// The first one: until then the results of the handshake have not loaded.
test("initialize is answered before the messages that come with it", async () => {
  assert.equal(ids(await exchange([hello + ping(1) + "\n" + ping(2)])), [0, 1, 2]);
});

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

test("the end of a call cancels the request to the client that it waits for", async () => {
  const { server } = newServer({ definitions: [asks] });
  const input = new TransformStream<Uint8Array, Uint8Array>();
  const feed = input.writable.getWriter();
  const messages: Record<string, unknown>[] = [];
  const output = new WritableStream<Uint8Array>({
    write(chunk) {
      for (const line of new TextDecoder().decode(chunk).trimEnd().split("\n")) {
        messages.push(JSON.parse(line));
      }
    },
  });
  const served = server.serveStdio(input.readable, output, undefined);
  const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } };
  await feed.write(new TextEncoder().encode(hello + ask));
  const request = await until(() => messages.find(({ method }) => method === "roots/list"));
  await feed.write(new TextEncoder().encode(JSON.stringify(cancel) + "\n"));
  await until(() => messages.length === 3);
  assert.equal(messages[2], {
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId: request.id },
  });
  await feed.close();
  await served;
  assert.is(messages.length, 3);
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

test("the scopes of the process's principal apply to tools", async () => {
  const [line] = await exchange([
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"secret"}}',
  ]);
  assert.is(JSON.parse(line!).result.content[0].text, "writer");
});

test.run();
