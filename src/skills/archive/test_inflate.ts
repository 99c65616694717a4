/**
 * The tests that every function for inflating must pass: portable code, and that of a runtime. Only tests import this.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { deflatedZeros } from "../../../fixtures/hostile/bomb.ts";
import { joinBytes } from "../../http/body/byte_buffer.ts";
import { createRandom } from "../../http/test_random.ts";
import { InflateError } from "./inflate_error.ts";

const encoder = new TextEncoder();

async function deflate(bytes: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(
    new CompressionStream("deflate-raw"),
  );
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Bytes from bits in reading order. */
function ofBits(...words: string[]): Uint8Array {
  const bits = words.join("").replaceAll(" ", "");
  return Uint8Array.from(
    { length: Math.ceil(bits.length / 8) },
    (_, i) => parseInt([...bits.slice(8 * i, 8 * i + 8)].reverse().join(""), 2),
  );
}

/** Blocks of at most 65535 bytes that are not compressed (RFC 1951 section 3.2.4). */
function storedBlocks(bytes: Uint8Array): Uint8Array[] {
  const blocks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += 0xffff) {
    const block = bytes.subarray(at, at + 0xffff);
    const { length } = block;
    const isLast = at + length === bytes.length ? 1 : 0;
    blocks.push(
      Uint8Array.of(isLast, length & 255, length >> 8, ~length & 255, ~length >> 8 & 255),
      block,
    );
  }
  return blocks;
}

const join = (parts: readonly Uint8Array[]): Uint8Array =>
  joinBytes(parts, parts.reduce((sum, { length }) => sum + length, 0));

const random = createRandom(7);
const noise = (size: number, letters = 256): Uint8Array =>
  Uint8Array.from({ length: size }, () => random(letters));

/** @param unpack unpacks into exactly `size` bytes */
export function testInflate(
  name: string,
  unpack: (packed: Uint8Array, size: number) => Promise<Uint8Array>,
): void {
  const test = suite(name);

  async function fault(packed: Uint8Array, size: number): Promise<string> {
    const error = await unpack(packed, size).then(() => undefined, (error) => error);
    assert.instance(error, InflateError, "It was accepted");
    return error.fault;
  }

  for (
    const [what, bytes] of [
      ["nothing", new Uint8Array()],
      ["one byte", Uint8Array.of(0)],
      ["a run", new Uint8Array(100_000).fill(65)],
      ["text", encoder.encode("the quick brown fox ".repeat(5000))],
      ["noise, which is stored", noise(200_000)],
      ["noise of few letters", noise(300_000, 5)],
      ["all bytes", Uint8Array.from({ length: 70_000 }, (_, i) => i * i >> 3)],
      // Letters of decreasing frequency have codes longer than the lookup table.
      ["letters of many weights", Uint8Array.from({ length: 400_000 }, () => Math.clz32(random(2 ** 30)))],
      [
        "distant repeats",
        (() => {
          const part = noise(32_000);
          return Uint8Array.from([...part, ...part, ...part.subarray(5), ...noise(9), ...part]);
        })(),
      ],
    ] as const
  ) {
    test(`${what} is unpacked unchanged, and a wrong length is refused`, async () => {
      const packed = await deflate(bytes);
      // `assert.equal` of many bytes takes minutes.
      const unpacked = await unpack(packed, bytes.length);
      assert.is(unpacked.findIndex((byte, i) => byte !== bytes[i]), -1);
      if (bytes.length > 0) assert.is(await fault(packed, bytes.length - 1), "longer");
      assert.is(await fault(packed, bytes.length + 1), "shorter");
      assert.is(await fault(Uint8Array.from([...packed, 0]), bytes.length), "damaged", "with an extra byte");
      assert.is.not(await fault(packed.subarray(0, -1), bytes.length), "shorter", "with a missing byte");
    });
  }

  test("much data after the end is refused, whatever the length of both", async () => {
    for (const size of [10, 70_000, 65_531, 400_000]) {
      // Stored blocks: their length is known, so that some end where a step of the reader ends.
      const packed = join(storedBlocks(noise(size)));
      assert.is((await unpack(packed, size)).length, size);
      for (const more of [1, 65_536, 300_000]) {
        assert.is(await fault(join([packed, new Uint8Array(more)]), size), "damaged");
      }
    }
  });

  test("a bomb is refused when its first bytes are too many", async () => {
    assert.is(await fault(deflatedZeros(1_000_000), 1000), "longer");
    assert.is(await fault(deflatedZeros(1_000_000), 1_000_000), "longer");
  });

  test("fixed codes, stored blocks and empty blocks are unpacked", async () => {
    // Fixed codes: A is 01110001, end of block 0000000. Stored block: length 2 and its complement.
    const stored = Uint8Array.of(2, 0, 0xfd, 0xff, 66, 67);
    const end = ofBits("1 10", "0000000");
    assert.is(
      new TextDecoder().decode(
        await unpack(
          Uint8Array.from([
            ...ofBits("0 10", "01110001", "0000000", "0 00"),
            ...stored,
            ...end,
          ]),
          3,
        ),
      ),
      "ABC",
    );
  });

  for (
    const [what, packed] of [
      ["no data", new Uint8Array()],
      ["an invalid block type", ofBits("1 11 00000")],
      ["a stored length with a wrong complement", Uint8Array.of(1, 1, 0, 0, 0, 65)],
      ["a truncated stored block", Uint8Array.of(1, 9, 0, 0xf6, 0xff, 65)],
      ["a distance before the beginning", ofBits("1 10", "0000001", "00000", "0000000")],
      ["a symbol that does not exist", ofBits("1 10", "11000110", "00000", "0000000")],
      ["a distance that does not exist", ofBits("1 10", "01110001", "0000001", "11110", "0000000")],
      ["a block without an end", ofBits("1 10", "01110001")],
      ["too many literals", ofBits("1 01", "11111", "00000", "0000", "0".repeat(40))],
      ["an incomplete code of code lengths", ofBits("1 01", "00000", "00000", "0000", "010 000 000 000")],
      ["an oversubscribed code of code lengths", ofBits("1 01", "00000", "00000", "0000", "100 100 100 100")],
      [
        "a repeat without a previous length",
        ofBits("1 01", "00000", "00000", "0000", "100 000 000 100", "0 00", "0".repeat(40)),
      ],
      [
        "no code for end of block",
        ofBits("1 01", "00000", "00000", "0000", "000 000 100 100", "1 1111111", "1 1101011", "0".repeat(40)),
      ],
    ] as const
  ) {
    test(`${what} is refused as damaged`, async () => assert.is(await fault(packed, 1000), "damaged"));
  }

  test("mutated data is unpacked to its length or refused with InflateError", async () => {
    const whole = await deflate(encoder.encode("some text, some more text and some text again ".repeat(40)));
    for (let round = 0; round < 5000; round++) {
      const packed = whole.slice(0, random(3) === 0 ? random(whole.length) : whole.length);
      for (let n = random(4); n >= 0; n--) packed[random(packed.length || 1)] = random(256);
      await unpack(packed, 46 * 40).catch((error) => assert.instance(error, InflateError));
    }
  });

  test.run();
}
