/**
 * A whole OpenID Connect login on workerd: sign-in by openid-client, UserInfo, refresh, logout, and the notice to another
 * client, which is sent after the response.
 *
 * @module
 */
import { resolve } from "node:path";
import * as openid from "openid-client";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type RunningWorker, startWorker } from "../../../scripts/test/workerd.ts";
import { readJws } from "../../crypto/jws.ts";
import { newPerson } from "./test_person.ts";

const test = suite("OpenID Connect on workerd");
const APP = "https://app.example/callback";
const OUT = "https://app.example/out";
let worker: RunningWorker;

test.before(async () => {
  const from = (file: string): string => JSON.stringify(resolve("src", file));
  worker = await startWorker(`
    import { addUser, createTrivet, memoryStore } from ${from("mod.ts")};
    import { toWorker } from ${from("runtime/workerd.ts")};
    // workerd reaches public addresses only, so the client that is to be notified is here.
    const notices = [];
    globalThis.fetch = async (url, init) => {
      notices.push({ url, body: init.body });
      return new Response(null, { status: 200 });
    };
    const clients = ["app", "other"].map((id) => ({
      id,
      secret: "secret of " + id,
      redirect_uris: ["${APP}"],
      post_logout_redirect_uris: ["${OUT}"],
      backchannel_logout_uri: "https://" + id + ".example/logout",
    }));
    let trivet;
    async function create(issuer) {
      const store = memoryStore();
      await addUser(store, { username: "alice", password: "wonderland", name: "Alice Liddell" }, 1000);
      return createTrivet({ issuer, store, oauth: { openid: true, clients, passwordIterations: 1000 } });
    }
    export default toWorker(() => ({
      async fetch(request, context) {
        const { origin, pathname } = new URL(request.url);
        if (pathname === "/notices") return Response.json(notices);
        trivet ??= await create(origin);
        return trivet.fetch(request, context);
      },
    }));
  `);
});
test.after(() => worker.stop());

async function signIn(person: ReturnType<typeof newPerson>, id: string) {
  const execute = [openid.allowInsecureRequests];
  const config = await openid.discovery(new URL(worker.url), id, `secret of ${id}`, undefined, { execute });
  const [pkceCodeVerifier, expectedNonce] = [openid.randomPKCECodeVerifier(), openid.randomNonce()];
  const asked = openid.buildAuthorizationUrl(config, {
    redirect_uri: APP,
    scope: "openid profile",
    nonce: expectedNonce,
    code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: "S256",
  });
  const checks = { pkceCodeVerifier, expectedNonce, idTokenExpected: true };
  const tokens = await openid.authorizationCodeGrant(config, await person.allow(asked), checks);
  return { config, tokens, claims: tokens.claims()! };
}

test("sign in, read UserInfo, refresh, sign out, and notify each client", async () => {
  const alice = newPerson("alice", "wonderland");
  const { config, tokens, claims } = await signIn(alice, "app");
  const other = await signIn(alice, "other");
  const info = await openid.fetchUserInfo(config, tokens.access_token, claims.sub);
  assert.equal([info.name, claims.name], ["Alice Liddell", "Alice Liddell"]);
  const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token!);
  assert.is(refreshed.claims()!.sub, claims.sub);

  const endSession = openid.buildEndSessionUrl(config, {
    id_token_hint: tokens.id_token!,
    post_logout_redirect_uri: OUT,
  });
  const left = await alice.visit(endSession);
  assert.equal([left.status, left.headers.get("location")], [303, OUT]);
  assert.not.ok(await alice.isSignedIn(worker.url));
  let notices: readonly { url: string; body: string }[] = [];
  for (const started = Date.now(); notices.length < 2 && Date.now() - started < 30_000;) {
    notices = await (await fetch(`${worker.url}/notices`)).json();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const sids = new Map(notices.map(({ url, body }) => {
    const token = new URLSearchParams(body).get("logout_token")!;
    return [url, readJws(token)!.claims.sid];
  }));
  assert.is(sids.get("https://app.example/logout"), claims.sid);
  assert.is(sids.get("https://other.example/logout"), other.claims.sid);
});

test.run();
