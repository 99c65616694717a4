import { suite } from "uvu";
import * as assert from "uvu/assert";
import { multipartBody } from "./multipart_body.ts";

const test = suite("multipartBody");

function file(name: string, ...chunks: readonly Uint8Array[]) {
  return {
    name,
    size: chunks.reduce((sum, { length }) => sum + length, 0),
    async *open() {
      yield* chunks;
    },
  };
}

test("formData() parses the body, which has a known length and can be streamed twice", async () => {
  const bytes = Uint8Array.from({ length: 70_000 }, (_, i) => i & 255);
  const body = multipartBody("files[]", [
    file("demo/SKILL.md", new TextEncoder().encode("---\n")),
    file('a "b".bin', bytes.subarray(0, 10), bytes.subarray(10)),
    file("empty"),
  ], [["display_name", "Grüße"]]);
  for (let i = 0; i < 2; i++) {
    const sent = new Uint8Array(await new Response(body.stream()).arrayBuffer());
    assert.is(sent.length, body.length);
    const form = await new Response(sent, { headers: { "content-type": body.type } }).formData();
    assert.is(form.get("display_name"), "Grüße");
    const files = form.getAll("files[]") as File[];
    assert.equal(files.map(({ size }) => size), [4, 70_000, 0]);
    assert.equal(new Uint8Array(await files[1]!.arrayBuffer()), bytes);
  }
});

test("quotes and line breaks of a file name are percent-encoded", async () => {
  const body = multipartBody("files[]", [file('x"\r\nX-Evil: 1')]);
  const text = await new Response(body.stream()).text();
  assert.match(
    text,
    'filename="x%22%0D%0AX-Evil: 1"\r\nContent-Type: application/octet-stream\r\n\r\n\r\n--',
  );
});

test("cancelling the stream closes the open file", async () => {
  let closed = false;
  const body = multipartBody("files[]", [{
    name: "a",
    size: 10,
    async *open() {
      try {
        for (let i = 0; i < 10; i++) yield Uint8Array.of(i);
      } finally {
        closed = true;
      }
    },
  }]);
  const reader = body.stream().getReader();
  await reader.read();
  await reader.read();
  assert.not.ok(closed);
  await reader.cancel();
  assert.ok(closed);
});

test.run();
