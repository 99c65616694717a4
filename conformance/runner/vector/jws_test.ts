import { suite } from "uvu";
import * as assert from "uvu/assert";
import { generateKey, parseJws, signJws, verifyJws } from "./jws.ts";
import { KitError } from "../outcome.ts";

const test = suite("jws");

/** RFC 7515, appendix A.3. */
const EXAMPLE =
  "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ." +
  "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
const KEY = {
  kty: "EC",
  crv: "P-256",
  x: "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
  y: "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
};

test("the example of RFC 7515 is read and verified", async () => {
  assert.equal(parseJws(EXAMPLE)?.claims, {
    iss: "joe",
    exp: 1300819380,
    "http://example.com/is_root": true,
  });
  assert.ok(await verifyJws(EXAMPLE, KEY));
  assert.ok(await verifyJws(EXAMPLE, { keys: [{ kty: "RSA" }, KEY] }));
  assert.not(await verifyJws(EXAMPLE.slice(0, -4) + "AAAA", KEY));
});

for (const alg of ["ES256", "RS256", "Ed25519", "EdDSA", "HS256"]) {
  test(`a signature of ${alg} verifies with its own key only`, async () => {
    const [pair, other] = [await generateKey(alg), await generateKey(alg)];
    const token = await signJws({}, { sub: "x" }, pair.private);
    assert.equal(parseJws(token)?.header, { alg });
    assert.ok(await verifyJws(token, pair.public ?? pair.private));
    assert.not(await verifyJws(token, other.public ?? other.private));
  });
}

test("text that is not a JWS is not parsed and not verified", async () => {
  for (const text of ["", "a.b", "a.b.c", "e30.e30.e30.e30", "!!.e30."]) {
    assert.not(await verifyJws(text, KEY), text);
  }
  assert.is(parseJws("a.b"), undefined);
  assert.not(await verifyJws(await signJws({ alg: "none" }, {}), KEY));
  assert.not(await verifyJws(EXAMPLE, undefined));
});

test("an unsupported algorithm is a KitError", async () => {
  const error = await generateKey("ES999").catch((error) => error);
  assert.instance(error, KitError);
});

test.run();
