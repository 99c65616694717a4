import { suite } from "uvu";
import * as assert from "uvu/assert";
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

test.run();
