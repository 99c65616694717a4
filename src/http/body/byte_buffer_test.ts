import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ByteBuffer, collectBytes } from "./byte_buffer.ts";

const test = suite("http/byte_buffer");
const bytes = (...values: number[]) => Uint8Array.from(values);

test("take() returns the appended bytes, also when the chunks are reused", () => {
  const buffer = new ByteBuffer();
  const chunk = new Uint8Array(1);
  for (let i = 0; i < 5000; i++) {
    chunk[0] = i % 251;
    buffer.append(chunk);
  }
  buffer.append(new Uint8Array());
  assert.is(buffer.length, 5000);
  const taken = buffer.take();
  assert.is(taken.length, 5000);
  assert.is(taken.buffer.byteLength, 5000);
  assert.ok(taken.every((byte, i) => byte === i % 251));
  assert.is(buffer.length, 0);
});

test("the capacity is at most twice the length, and grows rarely", () => {
  const buffer = new ByteBuffer();
  const capacities = new Set<number>();
  for (let i = 1; i <= 100_000; i++) {
    buffer.append(bytes(1));
    capacities.add(buffer.capacity);
    assert.ok(buffer.capacity <= Math.max(1024, 2 * i));
  }
  assert.ok(capacities.size < 10);
});

test("an expected length is allocated once", () => {
  const buffer = new ByteBuffer(300);
  for (let i = 0; i < 3; i++) buffer.append(new Uint8Array(100).fill(i));
  assert.is(buffer.capacity, 300);
  assert.equal([...buffer.take().subarray(98, 102)], [0, 0, 1, 1]);
});

test("discarding at the start keeps the capacity small", () => {
  const buffer = new ByteBuffer();
  let next = 0;
  for (let i = 0; i < 20_000; i++) {
    buffer.append(bytes(i % 256, (i + 1) % 256, (i + 2) % 256));
    buffer.discard(2);
    if (i % 700 === 0) {
      next = buffer.view()[0]!;
      buffer.discard(buffer.length - 1);
      assert.is(buffer.view(0, 1).length, 1);
    }
  }
  assert.type(next, "number");
  assert.ok(buffer.capacity <= 4096);
});

test("bytes keep their order when they are appended, discarded, viewed and taken", () => {
  const buffer = new ByteBuffer();
  const expected: number[] = [];
  for (let i = 0; i < 3000; i++) {
    const chunk = Uint8Array.from({ length: i % 17 }, (_, k) => (i + k) % 256);
    buffer.append(chunk);
    expected.push(...chunk);
    const discarded = i % 19;
    buffer.discard(discarded);
    expected.splice(0, discarded);
  }
  assert.equal([...buffer.view()], expected);
  assert.equal([...buffer.view(1, 3)], expected.slice(1, 3));
  assert.equal([...buffer.take()], expected);
  assert.is(buffer.take().length, 0);
  buffer.append(bytes(9));
  assert.equal([...buffer.take()], [9]);
});

test("collectBytes() copies chunks, so that the sender may reuse them", async () => {
  const chunk = new Uint8Array(1);
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (let i = 0; i < 300; i++) {
      chunk[0] = i;
      yield chunk;
    }
  }
  const whole = await collectBytes(chunks());
  assert.is(whole.length, 300);
  assert.ok(whole.every((byte, i) => byte === i % 256));
});

test.run();
