import { suite } from "uvu";
import * as assert from "uvu/assert";
import { decodeBase64url, encodeBase64url } from "./base64url.ts";
import { ALGORITHMS, type JwsKey, readJws, signJws, verifyJws } from "./jws.ts";

const test = suite("crypto/jws");
const encode = (value: unknown) => encodeBase64url(new TextEncoder().encode(JSON.stringify(value)));

async function newKeys(): Promise<{ signing: JwsKey; verifying: JwsKey; publicKey: CryptoKey }> {
  const usages = ["sign", "verify"] as const;
  const pair = await crypto.subtle.generateKey(
    ALGORITHMS.ES256.key as EcKeyGenParams,
    true,
    usages,
  ) as CryptoKeyPair;
  return {
    signing: { kid: "k1", alg: "ES256", key: pair.privateKey },
    verifying: { kid: "k1", alg: "ES256", key: pair.publicKey },
    publicKey: pair.publicKey,
  };
}

test("verifyJws() gives the claims of what signJws() signed", async () => {
  const { signing, verifying } = await newKeys();
  const token = await signJws(signing, "at+jwt", { sub: "ü", exp: 1 });
  assert.equal(readJws(token)?.header, { alg: "ES256", kid: "k1", typ: "at+jwt" });
  assert.equal(await verifyJws(verifying, "at+jwt", token), { sub: "ü", exp: 1 });
});

test("verifyJws() refuses another key, another type and a changed part", async () => {
  const { signing, verifying } = await newKeys();
  const token = await signJws(signing, "at+jwt", { sub: "a" });
  const [header, , signature] = token.split(".");
  assert.is(await verifyJws((await newKeys()).verifying, "at+jwt", token), undefined);
  assert.is(await verifyJws(verifying, "JWT", token), undefined);
  assert.is(
    await verifyJws(verifying, "at+jwt", [header, encode({ sub: "b" }), signature].join(".")),
    undefined,
  );
  assert.is(await verifyJws(verifying, "at+jwt", token.slice(0, -4)), undefined);
  assert.is(await verifyJws(verifying, "at+jwt", token + "AAAA"), undefined);
});

test("RFC 8725 section 3.1: the header does not choose the algorithm", async () => {
  const { signing, verifying, publicKey } = await newKeys();
  const claims = encode({ sub: "attacker" });
  for (const alg of ["none", "None", "HS256", "ES384"]) {
    const header = encode({ alg, kid: "k1", typ: "at+jwt" });
    assert.is(await verifyJws(verifying, "at+jwt", `${header}.${claims}.`), undefined, alg);
  }
  // HS256 with the public key as the secret.
  const raw = new Uint8Array(await crypto.subtle.exportKey("raw", publicKey) as ArrayBuffer);
  const hmac = await crypto.subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const signed = `${encode({ alg: "HS256", kid: "k1", typ: "at+jwt" })}.${claims}`;
  const mac = new Uint8Array(await crypto.subtle.sign("HMAC", hmac, new TextEncoder().encode(signed)));
  assert.is(await verifyJws(verifying, "at+jwt", `${signed}.${encodeBase64url(mac)}`), undefined);
  // A key inside the header is not looked at.
  const stranger = await newKeys();
  const jwk = await crypto.subtle.exportKey("jwk", stranger.publicKey);
  const head = encode({ alg: "ES256", kid: "k1", typ: "at+jwt", jwk });
  const own = await crypto.subtle.sign(
    ALGORITHMS.ES256.sign,
    stranger.signing.key,
    new TextEncoder().encode(`${head}.${claims}`),
  );
  assert.is(
    await verifyJws(verifying, "at+jwt", `${head}.${claims}.${encodeBase64url(new Uint8Array(own))}`),
    undefined,
  );
  // And it still works with the right one.
  assert.ok(await verifyJws(verifying, "at+jwt", await signJws(signing, "at+jwt", {})));
});

test("RFC 8725 section 3.1: a header that names another algorithm than the key's is refused, though the key signed it", async () => {
  const { signing, verifying } = await newKeys();
  const signed = `${encode({ alg: "none", kid: "k1", typ: "at+jwt" })}.${encode({})}`;
  const signature = await crypto.subtle.sign(
    ALGORITHMS.ES256.sign,
    signing.key,
    new TextEncoder().encode(signed),
  );
  assert.is(
    await verifyJws(verifying, "at+jwt", `${signed}.${encodeBase64url(new Uint8Array(signature))}`),
    undefined,
  );
});

test("RFC 7515 section 4.1.11: a critical extension that is not understood makes the token invalid", async () => {
  const { signing, verifying } = await newKeys();
  const signed = `${encode({ alg: "ES256", typ: "at+jwt", crit: ["x"], x: 1 })}.${encode({})}`;
  const signature = await crypto.subtle.sign(
    ALGORITHMS.ES256.sign,
    signing.key,
    new TextEncoder().encode(signed),
  );
  const token = `${signed}.${encodeBase64url(new Uint8Array(signature))}`;
  assert.is(await verifyJws(verifying, "at+jwt", token), undefined);
});

for (
  const text of ["", ".", "..", "a.b", "a.b.c.d", "e30.e30", "e30.W10.e30", "!.e30.e30", "e30.bnVsbA.AA"]
) {
  test(`readJws() of ${JSON.stringify(text)} is undefined`, () => {
    assert.is(readJws(text), undefined);
  });
}

test("decodeBase64url() of a signature part is 64 bytes for ES256", async () => {
  const { signing } = await newKeys();
  const token = await signJws(signing, "at+jwt", {});
  assert.is(decodeBase64url(token.split(".")[2]!)?.length, 64);
});

test.run();
