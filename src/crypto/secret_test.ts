import { suite } from "uvu";
import * as assert from "uvu/assert";
import { equalInConstantTime, randomBytes, randomId, randomSecret, secretDigest } from "./secret.ts";

const test = suite("crypto/secret");

test("randomSecret() is the prefix and 256 bits, never the same twice", () => {
  const seen = new Set<string>();
  for (let i = 0; i < 10_000; i++) {
    const secret = randomSecret("p_");
    assert.match(secret, /^p_[A-Za-z0-9_-]{43}$/);
    seen.add(secret);
  }
  assert.is(seen.size, 10_000);
});

test("randomId() is the prefix and 128 bits", () => {
  assert.match(randomId("user_"), /^user_[A-Za-z0-9_-]{22}$/);
});

test("randomBytes() hands out no byte twice, also across the ends of its pool", () => {
  const seen = new Set<string>();
  for (let i = 0; i < 2000; i++) seen.add(randomBytes(17).join());
  assert.is(seen.size, 2000);
  assert.is(randomBytes(10_000).length, 10_000);
});

test("secretDigest() is the base64url of SHA-256", () => {
  assert.is(secretDigest("abc"), "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0");
});

test("equalInConstantTime() compares whole texts", () => {
  assert.ok(equalInConstantTime("abc", "abc"));
  assert.not.ok(equalInConstantTime("abc", "abd"));
  assert.not.ok(equalInConstantTime("abc", "ab"));
  assert.not.ok(equalInConstantTime("", "a"));
});

test.run();
