import { Buffer } from "node:buffer";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { deflatedNothing, deflatedZeros } from "../../../fixtures/hostile/bomb.ts";
import { HOSTILE_ARCHIVES } from "../../../fixtures/hostile/archives.ts";
import { ORDINARY_ARCHIVES } from "../../../fixtures/hostile/ordinary_archives.ts";
import { toHex } from "../../crypto/hex.ts";
import { sha256 } from "../../crypto/sha256.ts";
import { createDelimiterSearch } from "../../http/body/delimiter_search.ts";
import { createMultipartParser } from "../../http/body/multipart.ts";
import { assertLoopIsFree } from "../../http/test_loop_watchdog.ts";
import { WorkSlice } from "../../http/work_slice.ts";
import { portableCrc32 } from "../../skills/archive/crc32.ts";
import { InflateError } from "../../skills/archive/inflate_error.ts";
import { testInflate } from "../../skills/archive/test_inflate.ts";
import { nativeBytes } from "../../skills/native_bytes.ts";
import { newService, zip } from "../../skills/test_service.ts";
import { NATIVE_BYTES } from "./native_bytes.ts";

const { inflate, crc32, createSha256 } = NATIVE_BYTES;
testInflate("runtime/upload/native_bytes: inflate", async (packed, size) => {
  const { bytes, crc, digest } = await inflate(packed, size, new WorkSlice());
  assert.is(crc, portableCrc32(bytes));
  assert.equal(digest, sha256(bytes));
  return bytes;
});

const test = suite("runtime/upload/native_bytes");
const noise = Uint8Array.from({ length: 100_000 }, (_, i) => i * i >> 3);

test("importing the module makes the Skills service use it", () => assert.is(nativeBytes(), NATIVE_BYTES));

test("checksums and digests are those of portable code", () => {
  for (const at of [0, 1, 70_000, noise.length]) {
    const [a, b] = [noise.subarray(0, at), noise.subarray(at)];
    assert.is(crc32(b, crc32(a, 0)), portableCrc32(noise));
    const hash = createSha256();
    hash.update(a);
    hash.update(b);
    assert.is(toHex(hash.digest()), toHex(sha256(noise)));
  }
});

test("unpacked data is in a buffer that nothing else uses, so that it can be freed", async () => {
  // Many small ones, so that some would be at the start of a pool.
  for (const size of [...new Array<number>(200).fill(1000), 1, 40, 5000, 70_000, 300_000, 1_000_000]) {
    const content = noise.slice(0, size);
    const packed = await deflateRaw(content);
    const { bytes: first } = await inflate(packed, content.length, new WorkSlice());
    const { bytes: second } = await inflate(packed, content.length, new WorkSlice());
    assert.is.not(first.buffer, second.buffer);
    assert.ok(first.buffer.byteLength <= size + 64);
    first.buffer.transfer(0);
    assert.ok(second.every((byte, i) => byte === content[i]));
  }
});

for (
  const [what, packed, size, fault] of [
    ["blocks that unpack to nothing", deflatedNothing(3_000_000), 0, undefined],
    ["small blocks that unpack to nothing", deflatedNothing(60_000), 0, undefined],
    ["a bomb", deflatedZeros(4_000_000), 1_000_000, "longer"],
  ] as const
) {
  test(`${what} hold the event loop for at most 50 ms`, async () => {
    await assertLoopIsFree(async () => {
      const refused = await inflate(packed, size, new WorkSlice()).then(() => undefined, (error) => error);
      assert.is((refused as InflateError | undefined)?.fault, fault);
    });
  });
}

test("no more of a bomb is read after it became too long", async () => {
  const packed = deflatedZeros(4_000_000);
  let read = 0;
  packed.subarray = (from = 0, to = packed.length) => {
    read = to;
    return Uint8Array.prototype.subarray.call(packed, from, to) as Uint8Array<ArrayBuffer>;
  };
  const refused = await inflate(packed, 1_000_000, new WorkSlice()).then(() => undefined, (error) => error);
  assert.is((refused as InflateError).fault, "longer");
  assert.ok(read > 0 && read <= packed.length / 4, `${read} bytes`);
});

for (const { what, rule, status = 400, make } of HOSTILE_ARCHIVES) {
  test(`an archive with ${what} is refused with this runtime's functions too`, async () => {
    const { upload, store } = await newService();
    const response = await upload([["demo.zip", await make()]]);
    assert.is(response.status, status);
    assert.is((await response.json()).error.details.error_code, rule);
    assert.equal((await store.list([])).filter(({ key }) => key[0] !== "api_key"), []);
  });
}

for (const { what, filename = "demo.zip", make } of ORDINARY_ARCHIVES) {
  test(`an archive of ${what} is accepted with this runtime's functions too`, async () => {
    const { upload } = await newService();
    assert.is((await upload([[filename, await make()]])).status, 200);
  });
}

test("a damaged file of any size is refused", async () => {
  for (const size of [1000, 70_000, 1_000_000]) {
    const content = new Uint8Array(size).map((_, i) => i >> 4);
    const archive = await zip([
      { name: "demo/SKILL.md", content: "---\nname: demo\ndescription: Use it in tests.\n---\n" },
      { name: "demo/x", content, method: 8, crc: portableCrc32(content) ^ 1 },
    ]);
    const { upload } = await newService();
    const response = await upload([["demo.zip", archive]]);
    assert.is((await response.json()).error.details.error_code, "archive-damaged");
  }
});

test("importing the module makes uploads find boundaries natively, except on Deno", () => {
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
    assert.ok(find(view, 99_001, 180_000) < 0);
    assert.is(find(view, 0, 99_000 + needle.length - 1), -1 - 99_000);
    assert.is(find(view, 5, 6), -6);
  } finally {
    Buffer.prototype.indexOf = indexOf;
  }
  assert.is(used, "Deno" in globalThis ? 0 : 5);
});

test("a body of nothing but beginnings of boundaries is parsed", () => {
  const head = "--b\r\nContent-Disposition: form-data; name=a\r\n\r\n";
  const content = "\r\n--".repeat(100_000);
  const parser = createMultipartParser("b", { limit: 1_000_000, keep: () => true });
  parser.push(new TextEncoder().encode(`${head}${content}\r\n--b--`));
  assert.is(new TextDecoder().decode(parser.end()[0]!.bytes), content);
});

async function deflateRaw(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

test.run();
