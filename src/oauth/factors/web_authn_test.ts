import { suite } from "uvu";
import * as assert from "uvu/assert";
import { encodeBase64url } from "../../crypto/base64url.ts";
import { cborText, type Forgery, newAuthenticator } from "./test_authenticator.ts";
import { passkeys } from "./web_authn.ts";

const test = suite("oauth/factors/web_authn");
const ORIGIN = "https://as.example";
const challenge = encodeBase64url(new Uint8Array(32).fill(5));
const expected = { challenge, origins: [ORIGIN], rpId: "as.example", userVerification: true };
const CREATION = JSON.stringify({ challenge, rp: { id: "as.example" }, user: { id: "dXNlcg" } });
const REQUEST = JSON.stringify({ challenge, rpId: "as.example" });

async function register(forgery: Forgery = {}) {
  const authenticator = await newAuthenticator(ORIGIN);
  const response = JSON.parse(await authenticator.create(CREATION, forgery));
  return { authenticator, created: await passkeys().verifyRegistration(response, expected) };
}

async function assertWith(forgery: Forgery = {}, counter?: number) {
  const { authenticator, created } = await register();
  const response = JSON.parse(await authenticator.get(REQUEST, forgery));
  const { id, publicKey } = created!;
  return await passkeys().verifyAssertion(response, {
    ...expected,
    id,
    publicKey,
    counter: counter ?? created!.counter,
  });
}

test("a registration gives the credential, an assertion the counter", async () => {
  const { authenticator, created } = await register();
  assert.is(created!.id, authenticator.id);
  assert.is(created!.counter, 1);
  assert.equal(created!.transports, ["internal"]);
  assert.equal(await assertWith(), { counter: 2 });
});

/** WebAuthn sections 7.1 and 7.2: what a relying party must refuse. */
const FORGERIES: readonly (readonly [string, Forgery])[] = [
  ["another origin", { origin: "https://as.example.evil.example" }],
  ["another port", { origin: "https://as.example:8443" }],
  ["http", { origin: "http://as.example" }],
  ["another relying party", { rpId: "evil.example" }],
  ["a subdomain as relying party", { rpId: "login.as.example" }],
  ["another challenge", { challenge: encodeBase64url(new Uint8Array(32)) }],
  ["a frame of another site", { crossOrigin: true }],
  ["no user verification", { userVerified: false }],
  ["no user presence", { userPresent: false }],
];
for (const [name, forgery] of FORGERIES) {
  test(`${name}: registration and assertion are refused`, async () => {
    assert.is((await register(forgery)).created, undefined);
    assert.is(await assertWith(forgery), undefined);
  });
}

test("an assertion is no registration, and the reverse", async () => {
  assert.is((await register({ type: "webauthn.get" })).created, undefined);
  assert.is(await assertWith({ type: "webauthn.create" }), undefined);
});

test("a counter that does not go up is refused; one that stays 0 is not (section 6.1.1)", async () => {
  assert.is(await assertWith({}, 2), undefined);
  assert.is(await assertWith({ counter: 1 }), undefined);
  assert.equal(await assertWith({ counter: 0 }, 0), { counter: 0 });
});

test("the signature of another key is refused", async () => {
  const [one, other] = [await register(), await register()];
  const response = JSON.parse(await other.authenticator.get(REQUEST, { id: one.authenticator.id }));
  const { id, publicKey, counter } = one.created!;
  assert.is(await passkeys().verifyAssertion(response, { ...expected, id, publicKey, counter }), undefined);
});

test("user verification is not needed where it is not expected", async () => {
  const { authenticator, created } = await register();
  const response = JSON.parse(await authenticator.get(REQUEST, { userVerified: false }));
  const { id, publicKey, counter } = created!;
  const given = { ...expected, userVerification: false, id, publicKey, counter };
  assert.equal(await passkeys().verifyAssertion(response, given), { counter: 2 });
});

test("attestation is not looked at: no certificate of a stranger makes this server fetch a URL", async () => {
  // {"fmt": "packed", "attStmt": {"alg": -7, "sig": h'00', "x5c": [h'00']}, "authData": ...}
  const attestation = Uint8Array.of(
    0xa3,
    ...cborText("fmt"),
    ...cborText("packed"),
    ...cborText("attStmt"),
    0xa3,
    ...cborText("alg"),
    0x26,
    ...cborText("sig"),
    0x41,
    0,
    ...cborText("x5c"),
    0x81,
    0x41,
    0,
  );
  // With its attestation verified this registration would be refused: the certificate is one zero byte.
  assert.ok((await register({ attestation })).created);
});

test("what is no response is refused", async () => {
  for (
    const response of [undefined, null, 1, {}, { id: "x", response: {} }, {
      id: 1,
      response: { clientDataJSON: 1 },
    }]
  ) {
    assert.is(await passkeys().verifyRegistration(response, expected), undefined);
    assert.is(
      await passkeys().verifyAssertion(response, { ...expected, id: "x", publicKey: "", counter: 0 }),
      undefined,
    );
  }
});

test.run();
