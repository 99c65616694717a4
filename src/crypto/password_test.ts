import { suite } from "uvu";
import * as assert from "uvu/assert";
import { hashPassword, verifyPassword } from "./password.ts";

const test = suite("crypto/password");

test("a hash tells its scheme and iterations, and differs each time", async () => {
  const hash = await hashPassword("correct horse", 1000);
  assert.match(hash, /^pbkdf2-sha256\$1000\$[A-Za-z0-9_-]{22}\$[A-Za-z0-9_-]{43}$/);
  assert.is.not(await hashPassword("correct horse", 1000), hash);
});

test("verifyPassword() accepts the password and nothing near it", async () => {
  const hash = await hashPassword("correct horse", 1000);
  assert.equal(await verifyPassword("correct horse", hash, 1000), { valid: true, outdated: false });
  for (const other of ["", "correct hors", "Correct horse", "correct horse "]) {
    assert.is((await verifyPassword(other, hash, 1000)).valid, false);
  }
});

test("verifyPassword() takes both spellings of one accented letter", async () => {
  assert.ok((await verifyPassword("caf\u0065\u0301", await hashPassword("caf\u00e9", 1000), 1000)).valid);
});

test("verifyPassword() tells a hash that has fewer iterations than today's", async () => {
  assert.equal(await verifyPassword("p", await hashPassword("p", 1000), 2000), {
    valid: true,
    outdated: true,
  });
});

test("verifyPassword() of an unknown user is no, whatever the password", async () => {
  for (const password of ["", "p"]) assert.is((await verifyPassword(password, undefined, 1000)).valid, false);
});

test("hashPassword() falls back to what the runtime allows", async () => {
  const iterations = Number((await hashPassword("p", 200_000)).split("$")[1]);
  assert.ok(iterations === 200_000 || iterations === 100_000);
});

test.run();
