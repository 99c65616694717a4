import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createPasswordHasher, type Derive, passwords, PORTABLE_ITERATIONS } from "./password.ts";
import { hmacSha256 } from "./sha256.ts";

const test = suite("crypto/password");
const { hash: hashPassword, verify: verifyPassword } = passwords;

test("a hash tells its scheme and iterations, and differs each time", async () => {
  const hash = await hashPassword("correct horse", 1000);
  assert.match(hash, /^pbkdf2-sha256\$1000\$[A-Za-z0-9_-]{22}\$[A-Za-z0-9_-]{43}$/);
  assert.is.not(await hashPassword("correct horse", 1000), hash);
});

test("attack: without an option a hash has 600,000 iterations", async () => {
  const counts: number[] = [];
  const derive: Derive = (_, salt, iterations) => {
    counts.push(iterations);
    return Promise.resolve(salt);
  };
  assert.match(await createPasswordHasher(derive).hash("correct horse"), /^pbkdf2-sha256\$600000\$/);
  assert.equal(counts, [600_000]);
});

test("verify() accepts the password and nothing near it", async () => {
  const hash = await hashPassword("correct horse", 1000);
  assert.equal(await verifyPassword("correct horse", hash, 1000), {
    valid: true,
    outdated: false,
    unsupported: false,
  });
  for (const other of ["", "correct hors", "Correct horse", "correct horse "]) {
    assert.is((await verifyPassword(other, hash, 1000)).valid, false);
  }
});

test("verify() takes both spellings of one accented letter", async () => {
  assert.ok((await verifyPassword("caf\u0065\u0301", await hashPassword("caf\u00e9", 1000), 1000)).valid);
});

test("verify() tells a hash that has fewer iterations than today's", async () => {
  const { valid, outdated } = await verifyPassword("p", await hashPassword("p", 1000), 2000);
  assert.ok(valid && outdated);
});

test("verify() of an unknown user is no, whatever the password", async () => {
  for (const password of ["", "p"]) assert.is((await verifyPassword(password, undefined, 1000)).valid, false);
});

/** A platform that allows so many iterations; what it was asked for is counted, and nothing is slow. */
function platform(allowed: number) {
  const asked: number[] = [];
  const derive: Derive = (password, salt, iterations) => {
    asked.push(iterations);
    if (iterations > allowed) return Promise.reject(new DOMException("too many", "NotSupportedError"));
    return Promise.resolve(hmacSha256(password, `${salt.join()} ${iterations}`));
  };
  return { ...createPasswordHasher(derive), asked };
}

test("where the platform caps iterations, a hash is made with as many as it allows and is not outdated there", async () => {
  const { hash, verify, asked } = platform(PORTABLE_ITERATIONS);
  const made = await hash("p", 600_000);
  assert.is(made.split("$")[1], "100000");
  assert.equal(await verify("p", made, 600_000), { valid: true, outdated: false, unsupported: false });
  assert.is((await verify("q", made, 600_000)).valid, false);
  assert.equal(asked, [600_000, 100_000, 100_000, 100_000], "refused once, asked no more");
  assert.ok((await verify("p", await hash("p", 1000), 600_000)).outdated, "a weaker one is");
});

test("there an unknown user, a wrong password and a hash from elsewhere are one answer after one derivation", async () => {
  const elsewhere = await platform(1_000_000).hash("p", 600_000);
  const { hash, verify, asked } = platform(PORTABLE_ITERATIONS);
  const own = await hash("p", 600_000);
  asked.length = 0;
  assert.equal(await verify("p", undefined, 600_000), { valid: false, outdated: false, unsupported: false });
  assert.is((await verify("q", own, 600_000)).valid, false);
  assert.equal(await verify("p", elsewhere, 600_000), { valid: false, outdated: false, unsupported: true });
  assert.equal(asked, [100_000, 100_000, 100_000]);
});

test("where nothing is capped, such a hash is brought up at the next login", async () => {
  const made = await platform(PORTABLE_ITERATIONS).hash("p", 600_000);
  assert.equal(await platform(1_000_000).verify("p", made, 600_000), {
    valid: true,
    outdated: true,
    unsupported: false,
  });
});

test("a stored text that is no hash is an error, and never asked of the platform", async () => {
  const { verify, asked } = platform(1_000_000);
  const salt = "A".repeat(22);
  for (
    const text of ["", "bcrypt$1$x$y", `pbkdf2-sha256$4000000001$${salt}$x`, `pbkdf2-sha256$-1$${salt}$x`]
  ) {
    assert.instance(await verify("p", text).catch((error) => error), Error, text);
  }
  assert.equal(asked, []);
});

test("a platform that cannot derive at all is an error, and no wrong password", async () => {
  const { hash, verify } = platform(0);
  for (const attempt of [hash("p", 1000), verify("p", undefined, 600_000)]) {
    const error = await attempt.then(() => undefined, (error: unknown) => error);
    assert.instance(error, DOMException);
  }
});

test("this platform verifies what it hashes, whatever it allows", async () => {
  const made = await hashPassword("p", PORTABLE_ITERATIONS + 1);
  const { valid, outdated } = await verifyPassword("p", made, PORTABLE_ITERATIONS + 1);
  assert.ok(valid && !outdated, made.split("$")[1]);
});

test.run();
