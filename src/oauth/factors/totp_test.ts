import { suite } from "uvu";
import * as assert from "uvu/assert";
import { findStep, stepAt, toOtpauthUri, totpCode } from "./totp.ts";

const test = suite("oauth/factors/totp");
const SECRET = new TextEncoder().encode("12345678901234567890");

/** RFC 6238 appendix B: seconds and the code of eight digits, for SHA-1. */
const VECTORS: readonly (readonly [number, string])[] = [
  [59, "94287082"],
  [1111111109, "07081804"],
  [1111111111, "14050471"],
  [1234567890, "89005924"],
  [2000000000, "69279037"],
  [20000000000, "65353130"],
];
for (const [seconds, code] of VECTORS) {
  test(`the code at ${seconds} s (RFC 6238 appendix B)`, async () => {
    assert.is(await totpCode(SECRET, stepAt(seconds * 1000), 8), code);
    assert.is(await totpCode(SECRET, stepAt(seconds * 1000)), code.slice(2));
  });
}

test("RFC 4226 appendix D: the first ten codes of six digits", async () => {
  const codes = await Promise.all(Array.from({ length: 10 }, (_, step) => totpCode(SECRET, step)));
  assert.equal(
    codes.join(" "),
    "755224 287082 359152 969429 338314 254676 287922 162583 399871 520489",
  );
});

test("the codes of the step before and after are accepted, and no others", async () => {
  const time = 1_234_567_890_000;
  for (const [steps, accepted] of [[-2, false], [-1, true], [0, true], [1, true], [2, false]] as const) {
    const code = await totpCode(SECRET, stepAt(time) + steps);
    assert.is(await findStep(SECRET, code, time), accepted ? stepAt(time) + steps : undefined, `${steps}`);
  }
  assert.is(await findStep(SECRET, "", time), undefined);
});

test("the URI escapes names, and names the issuer", () => {
  assert.is(
    toOtpauthUri(SECRET, "as.example", "a:l i/ce&x=é"),
    "otpauth://totp/as.example:a%20l%20i%2Fce%26x%3D%C3%A9?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ" +
      "&issuer=as.example&algorithm=SHA1&digits=6&period=30",
  );
});

test.run();
