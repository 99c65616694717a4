import { suite } from "uvu";
import * as assert from "uvu/assert";
import { algorithmsOf, checkJwk, importPublicJwk, type PublicJwk, thumbprint } from "./jwk.ts";
import { JWS_ALGORITHMS, signJws, verifyJws } from "./jws.ts";
import { newKey } from "../oauth/test_keys.ts";

const test = suite("crypto/jwk");

/** The key of RFC 7638, section 3.1. */
const RFC7638 = {
  kty: "RSA",
  n: "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMst" +
    "n64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbIS" +
    "D08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw",
  e: "AQAB",
};

test("RFC 7638 section 3.1: the thumbprint of the example", () => {
  assert.is(thumbprint(RFC7638), "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs");
  assert.is(thumbprint({ ...RFC7638, kid: "2011-04-29", alg: "RS256" }), thumbprint(RFC7638));
});

for (const alg of JWS_ALGORITHMS) {
  test(`${alg}: what one key signs, its public part verifies, and no other`, async () => {
    const { key, jwk } = await newKey(alg);
    const checked = checkJwk(jwk) as PublicJwk;
    assert.equal(checked, jwk);
    assert.ok(algorithmsOf(checked).includes(alg));
    const token = await signJws({ kid: "k", alg, key }, "test+jwt", { a: 1 });
    const verify = await importPublicJwk(checked, alg);
    assert.equal(await verifyJws(verify, "test+jwt", token), { a: 1 });
    assert.is(await verifyJws(verify, "other+jwt", token), undefined);
    const other = await importPublicJwk(checkJwk((await newKey(alg)).jwk) as PublicJwk, alg);
    assert.is(await verifyJws(other, "test+jwt", token), undefined);
  });
}

for (
  const [name, jwk] of Object.entries({
    "a private key": { ...RFC7638, d: "AQAB" },
    "a shared key": { kty: "oct", k: "AQAB" },
    "an RSA key of 1024 bits": { ...RFC7638, n: RFC7638.n.slice(0, 171) },
    "an RSA key too large to verify with": { ...RFC7638, n: RFC7638.n.repeat(5) },
    "a curve that is not used here": { kty: "EC", crv: "secp256k1", x: "AQAB", y: "AQAB" },
    "a number that is no base64url": { ...RFC7638, e: "AQ+B" },
    "a type inherited from Object": { kty: "constructor" },
    "text": "key",
    "null": null,
    "an array": [RFC7638],
  })
) {
  test(`refused: ${name}`, () => assert.type(checkJwk(jwk), "string"));
}

test("members that are not known are left behind", () => {
  const jwk = {
    ...RFC7638,
    kid: "a",
    alg: "RS256",
    use: "sig",
    x5u: "https://evil.example",
    key_ops: ["verify"],
  };
  assert.equal(checkJwk(jwk), { ...RFC7638, kid: "a", alg: "RS256", use: "sig" });
});

test.run();
