import { request } from "node:http";
import { resolve } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type RunningWorker, startWorker } from "../../../scripts/test/workerd.ts";

const test = suite("upload gate on workerd");
let worker: RunningWorker;

test.before(async () => {
  const from = (file: string): string => JSON.stringify(resolve("src", file));
  worker = await startWorker(`
    import { createUploadReader } from ${from("skills/api/upload.ts")};
    import { SkillError } from ${from("skills/error.ts")};
    // Capacity for one upload without a length.
    const readUpload = createUploadReader({ limit: 1000, memory: 0, wait: 3000, idle: 2000, whole: 2000 });
    export default {
      async fetch(request) {
        if (request.method === "GET") return new Response("ready");
        try {
          return await readUpload(request, { id: "me" }, async ({ files }) => new Response(String(files.length)));
        } catch (error) {
          if (!(error instanceof SkillError)) return new Response(String(error), { status: 500 });
          return new Response(error.message, { status: error.status });
        }
      },
    };
  `);
});
test.after(() => worker.stop());

const FILE = "--b\r\nContent-Disposition: form-data; name=files; filename=a\r\n\r\nx\r\n";

interface Sender {
  readonly answer: Promise<string>;
  /** Resolves when the server has read what was sent. */
  isReceived(): Promise<void>;
  end(): void;
  cut(): void;
}

/** Begins an upload without Content-Length, which reserves the whole capacity. */
function begin(): Sender {
  const sent = request(worker.url, {
    method: "POST",
    headers: { "content-type": "multipart/form-data; boundary=b" },
  });
  const answer = new Promise<string>((resolve) => {
    sent.once("error", (error) => resolve(String(error)));
    sent.once("response", async (response) => {
      let text = `${response.statusCode} `;
      for await (const piece of response) text += piece;
      resolve(text);
    });
  });
  const written = new Promise<void>((resolve) => void sent.write(FILE, () => resolve()));
  return {
    answer,
    async isReceived() {
      await written;
      // The server reads its connections in turn: these requests are sent after the upload.
      for (let i = 0; i < 3; i++) await (await fetch(worker.url)).text();
    },
    end: () => void sent.end("--b--"),
    cut: () => void sent.destroy(),
  };
}

test("uploads wait until the capacity is free, and all are answered", async () => {
  const first = begin();
  await first.isReceived();
  const others = Array.from({ length: 4 }, begin);
  for (const other of others) other.end();
  const early = Promise.race(others.map(({ answer }) => answer));
  const pause = new Promise((resolve) => setTimeout(resolve, 300, "waiting"));
  assert.is(
    await Promise.race([early, pause]),
    "waiting",
    "no upload is answered while the first has the capacity",
  );
  first.end();
  for (const { answer } of [first, ...others]) assert.is(await answer, "200 1");
});

test("a cut connection releases its capacity or its place in the queue", async () => {
  const active = begin();
  await active.isReceived();
  const waiting = begin();
  await waiting.isReceived();
  const last = begin();
  last.end();
  active.cut();
  waiting.cut();
  assert.is(await last.answer, "200 1");
});

test.run();
