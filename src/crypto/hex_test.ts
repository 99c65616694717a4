import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toHex } from "./hex.ts";

const test = suite("crypto/hex");

test("toHex() writes two lower-case digits for each byte", () => {
  assert.is(toHex(Uint8Array.of(0, 9, 10, 0xab, 0xff)), "00090aabff");
  assert.is(toHex(new Uint8Array()), "");
});

test.run();
