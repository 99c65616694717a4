import { suite } from "uvu";
import * as assert from "uvu/assert";
import { readText } from "./body.ts";
import { readChunks } from "./body_chunks.ts";
import { BodyError } from "./body_error.ts";
import { readForm } from "./form.ts";

const test = suite("http/body");
const post = (body: BodyInit | null, headers: HeadersInit = {}): Request =>
  // Runtimes other than browsers require "half" for a streamed body.
  new Request("http://h/", { method: "POST", body, headers, duplex: "half" } as RequestInit);

async function refusal(work: Promise<unknown>): Promise<[number, string]> {
  try {
    await work;
  } catch (error) {
    assert.instance(error, BodyError);
    return [(error as BodyError).status, (error as BodyError).message];
  }
  throw new Error("Not refused");
}

function assertTooLarge([status, message]: [number, string]): void {
  assert.is(status, 413);
  assert.match(message, "100 bytes");
}

function streamOf(chunks: number, size: number, onCancel: () => void): ReadableStream<Uint8Array> {
  let sent = 0;
  return new ReadableStream({
    pull(controller) {
      if (sent++ < chunks) controller.enqueue(new Uint8Array(size));
      else controller.close();
    },
    cancel: onCancel,
  });
}

test("a body up to the limit is read whole, with and without Content-Length", async () => {
  assert.is((await readText(post(new Uint8Array(100)), 100)).length, 100);
  assert.is((await readText(post(new Uint8Array(100), { "content-length": "100" }), 100)).length, 100);
  assert.is((await readText(post(streamOf(10, 10, () => {})), 100)).length, 100);
  assert.is((await readText(post(null), 100)).length, 0);
});

test("a body in chunks is read whole when Content-Length declares all of it, or less", async () => {
  for (const length of ["100", "99"]) {
    const body = streamOf(10, 10, () => {});
    assert.is((await readText(post(body, { "content-length": length }), 100)).length, 100);
  }
});

test("a body one byte over the limit gets 413, whatever Content-Length says", async () => {
  for (const headers of [{}, { "content-length": "101" }, { "content-length": "5" }]) {
    assertTooLarge(await refusal(readText(post(new Uint8Array(101), headers), 100)));
  }
});

test("a Content-Length over the limit gets 413, also when the body breaks off", async () => {
  const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.error(new Error("gone")) });
  const request = { headers: new Headers({ "content-length": "101" }), body } as unknown as Request;
  assertTooLarge(await refusal(readText(request, 100)));
});

test("a Content-Length that is not a number is ignored", async () => {
  for (const field of ["x", "1e3", "-1", "0x10", ""]) {
    const request = (size: number) =>
      ({
        headers: new Headers({ "content-length": field }),
        body: streamOf(size, 1, () => {}),
      }) as unknown as Request;
    assert.is((await readText(request(100), 100)).length, 100);
    assert.is((await refusal(readText(request(101), 100)))[0], 413);
  }
});

test("a body with a Content-Length over the limit is cancelled without reading", async () => {
  let pulled = 0;
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => (pulled++, controller.enqueue(new Uint8Array(10))),
    cancel: () => void (cancelled = true),
  }, { highWaterMark: 0 });
  const request = { headers: new Headers({ "content-length": "101" }), body } as unknown as Request;
  assert.equal((await refusal(readText(request, 100)))[0], 413);
  assert.is(pulled, 0);
  assert.ok(cancelled);
});

test("an endless body is cancelled at the limit", async () => {
  let cancelled = false;
  const body = streamOf(1_000_000, 1000, () => cancelled = true);
  assert.equal((await refusal(readText(post(body), 5000)))[0], 413);
  assert.ok(cancelled);
});

test("chunks are copied, so that a sender may reuse one buffer", async () => {
  const size = 70_000;
  const stream = (): ReadableStream<Uint8Array> => {
    const chunk = new Uint8Array(1);
    let sent = 0;
    return new ReadableStream({
      pull(controller) {
        if (sent === size) return controller.close();
        chunk[0] = 97 + sent++ % 26;
        controller.enqueue(chunk);
      },
    }, { highWaterMark: 0 });
  };
  // A large declared body is not read by the runtime, which may keep each chunk.
  for (const headers of [new Headers(), new Headers({ "content-length": String(size) })]) {
    const request = () => ({ headers, body: stream() }) as unknown as Request;
    const text = await readText(request(), size);
    assert.is(text.length, size);
    assert.ok([...text].every((character, i) => character.charCodeAt(0) === 97 + i % 26));
  }
  const bytes = await readChunks(stream().getReader(), size);
  assert.is(bytes.buffer.byteLength, size);
  assert.ok(bytes.every((byte, i) => byte === 97 + i % 26));
});

test("a body in many small chunks lets other work run between them", async () => {
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  const until = performance.now() + 100;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) =>
      performance.now() < until ? controller.enqueue(new Uint8Array(1)) : controller.close(),
  }, { highWaterMark: 0 });
  await readText({ headers: new Headers(), body } as unknown as Request, 10_000_000);
  clearInterval(timer);
  assert.ok(turns > 0);
});

test("a body over the limit is refused also when the request was cloned", async () => {
  for (const headers of [{}, { "content-length": "101" }]) {
    const request = post(streamOf(101, 10, () => {}), headers);
    const clone = request.clone();
    assert.equal((await refusal(readText(request, 100)))[0], 413);
    assert.ok(clone.body);
  }
});

test("a body that breaks off gets 400", async () => {
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.error(new Error("connection lost")),
  });
  assert.is((await refusal(readText(post(body), 100)))[0], 400);
});

test("text that is not UTF-8 gets 400", async () => {
  for (const bytes of [[0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80]]) {
    for (const headers of [{}, { "content-length": String(bytes.length) }]) {
      const read = readText(post(Uint8Array.from(bytes), headers as HeadersInit), 100);
      const [status, message] = await refusal(read);
      assert.is(status, 400);
      assert.match(message, "UTF-8");
    }
  }
});

test("a truncated UTF-8 sequence gets 400, also when U+FFFD would have the same length", async () => {
  for (const bytes of [[0xf0, 0x9f, 0x92], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xff]]) {
    const body = Uint8Array.from([0x22, ...bytes, 0x22]);
    for (const headers of [{}, { "content-length": String(body.length) }]) {
      const request = new Request("http://h/", { method: "POST", body, headers });
      assert.is(await readText(request, 100).then(() => "read", ({ status }) => status), 400);
    }
  }
});

test("a U+FFFD that was sent is accepted", async () => {
  const text = "a\ufffdü𝄞";
  for (const sent of [text, "\ufeff" + text]) {
    for (const headers of [{}, { "content-length": String(new TextEncoder().encode(sent).length) }]) {
      assert.is(await readText(post(sent, headers as HeadersInit), 100), text);
    }
  }
});

test("readForm() returns the first value of each name, and the repeated names", async () => {
  const form = await readForm(post(new URLSearchParams("a=1&b=%20x+y&a=2&__proto__=3")), 1000);
  assert.equal([...form.values], [["a", "1"], ["b", " x y"], ["__proto__", "3"]]);
  assert.equal(form.repeated, ["a"]);
});

test("readForm() refuses another media type with 415", async () => {
  for (const type of ["application/json", "text/plain", "multipart/form-data; boundary=x"]) {
    assert.is((await refusal(readForm(post("a=1", { "content-type": type }), 1000)))[0], 415);
  }
  const typed = post("a=1", { "content-type": "Application/X-WWW-Form-Urlencoded; charset=UTF-8" });
  assert.equal([...(await readForm(typed, 1000)).values], [["a", "1"]]);
});

test.run();
