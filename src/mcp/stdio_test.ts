import { suite } from "uvu";
import * as assert from "uvu/assert";
import { tool } from "./definition.ts";
import { DEFINITIONS, newServer, WRITER } from "./test_server.ts";

const test = suite("mcp/stdio");

/** Feeds chunks and returns the lines that came out. */
async function talk(chunks: readonly (string | Uint8Array)[], definitions = DEFINITIONS): Promise<string[]> {
  const { server } = newServer({ definitions });
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

test("a message a line, an answer a line", async () => {
  assert.equal(await talk([ping(1) + "\n" + ping("b") + "\n"]), [
    '{"jsonrpc":"2.0","id":1,"result":{}}',
    '{"jsonrpc":"2.0","id":"b","result":{}}',
  ]);
});

test("chunks may end anywhere, also inside a character; lines may end with CR LF; blank ones are nothing", async () => {
  const bytes = new TextEncoder().encode(`\n\r\n${ping("ü𝄞")}\r\n   \n${ping(2)}`);
  const split = Array.from(bytes, (byte) => Uint8Array.of(byte));
  assert.equal(ids(await talk(split)), ["ü𝄞", 2]);
});

test("the last line needs no line break", async () => {
  assert.equal(ids(await talk([ping(1)])), [1]);
});

test("notifications are not answered; garbage is -32700 with id null, and the next line is read", async () => {
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

test("a line over 4 MiB is refused once and passed over", async () => {
  const long = "x".repeat(1024 * 1024);
  const lines = await talk([long, long, long, long, long, long, "\n", ping(9)]);
  assert.equal(lines.map((line) => JSON.parse(line)).map(({ id, error }) => [id, error?.code]), [
    [null, -32600],
    [9, undefined],
  ]);
});

test("when the input ends, calls under way are still answered", async () => {
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

test("the principal of the process may call what needs its scopes", async () => {
  const [line] = await talk(['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"secret"}}']);
  assert.is(JSON.parse(line!).result.content[0].text, "writer");
});

test.run();
