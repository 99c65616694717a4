import { Buffer } from "node:buffer";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createDelimiterSearch } from "../../http/body/delimiter_search.ts";
import { createMultipartParser } from "../../http/body/multipart.ts";
import { useByteBody } from "./bun_upload_body.ts";

const test = suite("runtime/upload/bun_upload_body");

function newRequest(type: string, body: ReadableStream<Uint8Array> | string | null): Request {
  const init = { method: "POST", body, headers: { "content-type": type }, duplex: "half" };
  return new Request("http://localhost/", init as RequestInit);
}

test("the body of an upload is a byte stream of the same bytes, which transfers its chunks", async () => {
  const chunks = [1, 2, 3].map((byte) => new Uint8Array(10_000).fill(byte));
  const request = newRequest(
    "multipart/form-data; boundary=a",
    new ReadableStream({
      pull(controller) {
        const chunk = chunks[left++];
        if (chunk) controller.enqueue(chunk);
        else controller.close();
      },
    }),
  );
  let left = 0;
  useByteBody(request);
  assert.is(request.body, request.body);
  request.body!.getReader({ mode: "byob" }).releaseLock();
  const seen: number[] = [];
  for await (const chunk of request.body!) seen.push(...chunk);
  assert.is(seen.length, 30_000);
  assert.ok(seen.every((byte, i) => byte === 1 + Math.floor(i / 10_000)));
});

test("a reader that stops cancels the body, and an error of the body reaches the reader", async () => {
  let reason: unknown;
  const request = newRequest(
    "multipart/form-data; boundary=a",
    new ReadableStream({ cancel: (given) => void (reason = given) }),
  );
  useByteBody(request);
  await request.body!.cancel("stopped");
  assert.is(reason, "stopped");
  const broken = newRequest(
    "multipart/form-data; boundary=a",
    new ReadableStream({ pull: (controller) => controller.error(new Error("closed")) }),
  );
  useByteBody(broken);
  const failed = await broken.body!.getReader().read().then(() => false, () => true);
  assert.ok(failed);
});

test("other bodies, and uploads without one, are left as they are", async () => {
  const json = newRequest("application/json", "{}");
  useByteBody(json);
  assert.equal(await json.json(), {});
  const empty = newRequest("multipart/form-data; boundary=a", null);
  useByteBody(empty);
  assert.is(empty.body, null);
});

test("importing the module makes uploads find boundaries with a function of the runtime", () => {
  const needle = new TextEncoder().encode("\r\n--boundary");
  const find = createDelimiterSearch(needle);
  const bytes = new Uint8Array(200_000).fill(13);
  bytes.set(needle, 100_000);
  bytes.set(needle.subarray(0, 5), 150_000);
  // Positions are those in the view, which need not begin where its buffer does.
  const view = bytes.subarray(1000);
  const { indexOf } = Buffer.prototype;
  let used = 0;
  Buffer.prototype.indexOf = function (...given: Parameters<typeof indexOf>) {
    used++;
    return indexOf.apply(this, given);
  };
  try {
    assert.is(find(view, 0, view.length), 99_000);
    assert.is(find(view, 99_000, view.length), 99_000);
    assert.is(find(view, 99_001, 180_000), -1 - (180_000 - needle.length + 1));
    assert.is(find(view, 0, 99_000 + needle.length - 1), -1 - 99_000);
    assert.is(find(view, 5, 6), -6);
  } finally {
    Buffer.prototype.indexOf = indexOf;
  }
  assert.is(used, 5);
});

test("a body of nothing but beginnings of boundaries is parsed", () => {
  const head = "--b\r\nContent-Disposition: form-data; name=a\r\n\r\n";
  const content = "\r\n--".repeat(100_000);
  const parser = createMultipartParser("b", { limit: 1_000_000, keep: () => true });
  parser.push(new TextEncoder().encode(`${head}${content}\r\n--b--`));
  assert.is(new TextDecoder().decode(parser.end()[0]!.bytes), content);
});

test.run();
