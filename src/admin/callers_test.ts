import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createApiKey, removeApiKey } from "../skills/api_key.ts";
import { ADMIN_OPERATIONS } from "./operations.ts";
import { ISSUER, type Json, newServer, type TestServer } from "./test_server.ts";

const test = suite("admin/callers");

test("only an administrator is let in", async () => {
  const { send, store, tokenFor, trivet } = await newServer();
  const weak = (await createApiKey(store, { name: "weak", scopes: ["skills:read"] })).secret;
  const place = `${ISSUER}/admin`;
  const cases: readonly (readonly [Record<string, string>, number])[] = [
    [{}, 401],
    [{ cookie: await signIn(trivet, send) }, 401],
    [{ authorization: "Bearer nonsense" }, 401],
    [{ authorization: `Bearer ${weak}` }, 403],
    [{ "x-api-key": weak }, 403],
    [{ authorization: `Bearer ${await tokenFor(place, "skills:read")}` }, 403],
    [{ authorization: `Bearer ${await tokenFor(`${ISSUER}/mcp`, "admin")}` }, 401],
    [{ authorization: `Bearer ${await tokenFor(place, "admin")}` }, 200],
  ];
  for (const [headers, status] of cases) {
    for (const { method, path } of Object.values(ADMIN_OPERATIONS)) {
      if (status === 200 && method !== "GET") continue;
      const at = `/admin${path.replace(/:\w+/g, "none")}`;
      const answer = await send(method, at, { headers });
      assert.is(
        answer.status < 300 || answer.status === 404 ? 200 : answer.status,
        status,
        `${method} ${at}`,
      );
      if (status === 200) continue;
      const challenge = answer.headers.get("www-authenticate")!;
      assert.match(challenge, 'scope="admin"');
      assert.match(challenge, `resource_metadata="${ISSUER}/.well-known/oauth-protected-resource/admin"`);
    }
  }
  const metadata = await trivet.fetch(new Request(`${ISSUER}/.well-known/oauth-protected-resource/admin`));
  const { resource, scopes_supported } = await metadata.json() as Json;
  assert.equal([resource, scopes_supported], [place, ["admin"]]);
});

test("a key that is removed while its body is held back changes nothing", async () => {
  const { trivet, store } = await newServer();
  const leaked = await createApiKey(store, { name: "leaked", scopes: ["admin"] });
  let isRead = false;
  const send = (headers: Record<string, string>) => {
    const body = new ReadableStream({
      async pull(controller) {
        isRead = true;
        await removeApiKey(store, leaked.key.id);
        controller.enqueue(new TextEncoder().encode('{"name":"new","scopes":["admin"]}'));
        controller.close();
      },
    }, { highWaterMark: 0 });
    const init = {
      method: "POST",
      body,
      duplex: "half",
      headers: { "content-type": "application/json", ...headers },
    };
    return trivet.fetch(new Request(`${ISSUER}/admin/keys`, init));
  };
  assert.is((await send({})).status, 401);
  assert.is(isRead, false, "without credentials the body is not read");
  assert.is((await send({ authorization: `Bearer ${leaked.secret}` })).status, 401);
  assert.is(isRead, true);
  assert.equal((await store.list<Json>(["api_key"])).map(({ value }) => value.name), ["admin"]);
});

test("credentials are checked before the content of a body", async () => {
  const { send } = await newServer();
  const headers = { authorization: "Bearer nonsense" };
  assert.is((await send("POST", "/admin/users", { body: "{", headers })).status, 401);
});

/** The cookies of a session of an administrator, which the account page accepts. */
async function signIn(
  trivet: TestServer["trivet"],
  send: TestServer["send"],
): Promise<string> {
  const user = { username: "root", password: "a long passphrase", role: "admin" };
  assert.is((await send("POST", "/admin/users", { body: user })).status, 200);
  const body = new URLSearchParams({ username: user.username, password: user.password });
  const response = await trivet.fetch(new Request(`${ISSUER}/login`, { method: "POST", body }));
  const cookie = response.headers.getSetCookie().map((each) => each.split(";")[0]).join("; ");
  const page = await trivet.fetch(new Request(`${ISSUER}/account`, { headers: { cookie } }));
  assert.is(page.status, 200);
  return cookie;
}

test.run();
