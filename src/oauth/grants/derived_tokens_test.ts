import { suite } from "uvu";
import * as assert from "uvu/assert";
import { decodeBase64url, encodeBase64url } from "../../crypto/base64url.ts";
import { seal, unseal } from "../../crypto/seal.ts";
import { secretDigest } from "../../crypto/secret.ts";
import { soleSecret } from "../../crypto/server_secrets.ts";
import { hmacSha256 } from "../../crypto/sha256.ts";
import { listAll } from "../../store/store.ts";
import type { Grant } from "../records/grant_record.ts";
import { newServer, type TestServer } from "../test_server.ts";
import { findRefreshKey, toRefreshToken } from "../tokens/refresh_token.ts";

const test = suite("oauth/grant_refresh: derived tokens");
const SECRETS = soleSecret(new Uint8Array(32).fill(9));
const secret = () => SECRETS;

const refresh = (server: TestServer, refresh_token: string) =>
  server.token({ grant_type: "refresh_token", refresh_token });

/** What a refresh without parameters gave in version 0.1.0, and a seal's secret, from the HMAC key of the presented token. */
function deriveOld(hmacKey: Uint8Array, salt: string) {
  const asked = JSON.stringify([salt, undefined, [], undefined, undefined, undefined]);
  const root = encodeBase64url(hmacSha256(hmacKey, asked));
  return { access: secretDigest("access " + root), refresh: secretDigest("refresh " + root) };
}

test("what the store contains is not enough to derive the refreshed tokens", async () => {
  for (const accessTokenFormat of ["opaque", "jwt"] as const) {
    const server = await newServer({ accessTokenFormat, secret });
    const { refresh_token } = await server.tokens();
    const after = await (await refresh(server, refresh_token!)).json();
    const [grant] = await Array.fromAsync(listAll<Grant>(server.store, ["grant"]));
    const { digest, salt, sealed } = grant!.value.previous!;
    // HMAC replaces a long key by its SHA-256, which is the digest of the token.
    const key = decodeBase64url(digest)!;
    const derived = deriveOld(key, salt);
    assert.is.not(after.access_token, "trivet_at_" + derived.access);
    assert.not.ok(after.refresh_token.includes(derived.refresh.slice(0, 21)));
    assert.is(sealed === undefined, accessTokenFormat === "opaque");
    if (sealed) assert.is(await unseal(soleSecret(key), "access token of a refresh", sealed), undefined);
  }
});

test("a retry gets the tokens that version 0.1.0 derived and sealed", async () => {
  for (const accessTokenFormat of ["opaque", "jwt"] as const) {
    const server = await newServer({ accessTokenFormat, secret });
    const { refresh_token } = await server.tokens();
    const { access_token } = await (await refresh(server, refresh_token!)).json();
    const [grant] = await Array.fromAsync(listAll<Grant>(server.store, ["grant"]));
    const { key, value, expires } = grant!;
    const presented = new TextEncoder().encode(refresh_token!);
    const derived = deriveOld(presented, value.previous!.salt);
    const next = toRefreshToken(await findRefreshKey({ secret }), key[1] as string, derived.refresh);
    const previous = {
      ...value.previous!,
      ...(value.previous!.sealed && {
        sealed: await seal(soleSecret(presented), "access token of a refresh", access_token),
      }),
    };
    const old: Grant = { ...value, previous, refresh: { ...value.refresh!, digest: next.digest } };
    await server.store.commit({ set: [{ key, value: old, expires: expires! }] });
    const retried = await (await refresh(server, refresh_token!)).json();
    assert.is(retried.refresh_token, next.refresh_token);
    assert.is(retried.access_token, value.previous!.sealed ? access_token : "trivet_at_" + derived.access);
    assert.is((await refresh(server, next.refresh_token)).status, 200);
  }
});

test.run();
