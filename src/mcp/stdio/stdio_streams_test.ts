import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { tool } from "../definition/define.ts";
import { newServer } from "../test_server.ts";
import { watchedStore } from "../instances/test_watched_store.ts";
import { ask, asks, exchange, hello, ids, listen, ping } from "./test_stdio.ts";

const test = suite("mcp/stdio: streams");

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

test("a call that the client cancelled is not answered at the end of the input, which waits only until it stops", async () => {
  let stopped = false;
  const definitions = [
    tool({ name: "hangs", description: "Never ends", run: () => new Promise(() => {}) }),
    tool({
      name: "cleans",
      description: "Cleans up when it is cancelled",
      run: (_, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            setTimeout(() => resolve(String(stopped = true)), 50);
          });
        }),
    }),
  ];
  const start = (id: number, name: string) =>
    `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}"}}\n`;
  const cancel = (requestId: number) =>
    `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${requestId}}}\n`;
  const began = performance.now();
  const lines = await exchange(
    [hello, start(1, "hangs"), start(2, "cleans"), ping(3) + "\n", cancel(1), cancel(2)],
    definitions,
  );
  assert.equal(ids(lines).sort(), [0, 3]);
  assert.ok(stopped);
  assert.ok(performance.now() - began < 950, "no second to finish");
});

test("after the end of the input no tool waits for the client", async () => {
  const lines = await exchange([hello + ask], [asks]);
  assert.match(JSON.parse(lines.at(-1)!).result.content[0].text, /No response/);
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

test.run();
