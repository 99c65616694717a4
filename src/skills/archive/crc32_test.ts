import { suite } from "uvu";
import * as assert from "uvu/assert";
import { crc32, portableCrc32 } from "./crc32.ts";

const test = suite("skills/archive/crc32");

/** Computes bit by bit, from the definition. */
function byDefinition(bytes: Uint8Array): number {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >>> 1 ^ 0xedb88320 : crc >>> 1;
  }
  return ~crc >>> 0;
}

test("the check value of CRC-32 is correct", () => {
  assert.is(crc32(new TextEncoder().encode("123456789")), 0xcbf43926);
  assert.is(crc32(new Uint8Array()), 0);
});

test("every length and offset gives the value of the definition", () => {
  const memory = Uint8Array.from({ length: 64 }, (_, i) => i * 167 + 13);
  for (let from = 0; from < 9; from++) {
    for (let to = from; to <= memory.length; to++) {
      const bytes = memory.subarray(from, to);
      assert.is(portableCrc32(bytes), byDefinition(bytes), `${from} to ${to}`);
      assert.is(crc32(bytes), byDefinition(bytes), `${from} to ${to}`);
    }
  }
});

test.run();
