import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createApiKey, type SkillsServerOptions, skillsService } from "./skills_service.ts";
import { memoryStore } from "./store/drivers/memory.ts";

const test = suite("trivet/skills alone");
const URL = "https://skills.example";

async function start(options: Partial<SkillsServerOptions> = {}) {
  const store = memoryStore();
  const { secret } = await createApiKey(store, { name: "test" });
  const server = skillsService({ url: URL, store, ...options });
  const send = (path: string, headers: Record<string, string>, init: RequestInit = {}): Promise<Response> =>
    server.fetch(new Request(URL + path, { ...init, headers }));
  const upload = (headers: Record<string, string>): Promise<Response> => {
    const body = new FormData();
    body.append("files[]", new Blob(["---\nname: greet\ndescription: Greets.\n---\nHi."]), "greet/SKILL.md");
    return send("/v1/skills", headers, { method: "POST", body });
  };
  return { server, send, upload, key: { "x-api-key": secret } };
}

test("a skill is uploaded, listed and removed with an API key", async () => {
  const { send, upload, key } = await start();
  const created = await upload(key);
  assert.is(created.status, 200);
  const { id } = await created.json();
  const list = async () => (await (await send("/v1/skills", key)).json()).data.length;
  assert.is(await list(), 1);
  const { data: [{ version }] } = await (await send(`/v1/skills/${id}/versions`, key)).json();
  await send(`/v1/skills/${id}/versions/${version}`, key, { method: "DELETE" });
  assert.is((await send(`/v1/skills/${id}`, key, { method: "DELETE" })).status, 200);
  assert.is(await list(), 0);
});

test("a request without a valid key gets 401, and paths of the other services get 404", async () => {
  const { send, upload } = await start();
  assert.is((await upload({})).status, 401);
  assert.is((await upload({ "x-api-key": "wrong" })).status, 401);
  assert.is((await upload({ authorization: "Bearer unknown" })).status, 401);
  for (const path of ["/", "/mcp", "/oauth/token", "/login"]) assert.is((await send(path, {})).status, 404);
});

test("authenticate identifies callers without an API key, and challenges have resource_metadata", async () => {
  const resourceMetadata = "https://auth.example/.well-known/oauth-protected-resource/skills";
  const { upload, key } = await start({
    resourceMetadata,
    authenticate: ({ headers }) =>
      headers.get("authorization") === "Bearer good"
        ? { client: "app", workspace: "default", scopes: new Set(["skills:write"]) }
        : undefined,
  });
  assert.is((await upload({ authorization: "Bearer good" })).status, 200);
  assert.is((await upload(key)).status, 200);
  const bad = await upload({ authorization: "Bearer bad" });
  const anonymous = await upload({});
  assert.equal([bad.status, anonymous.status], [401, 401]);
  assert.match(bad.headers.get("www-authenticate")!, 'error="invalid_token"');
  assert.not.match(anonymous.headers.get("www-authenticate")!, "error=");
  for (const { headers } of [bad, anonymous]) {
    assert.match(headers.get("www-authenticate")!, resourceMetadata);
  }
});

test("a public http URL is refused at start", () => {
  assert.throws(() => skillsService({ url: "http://public.example", store: memoryStore() }), /"url"/);
});

for (const name of ["uploadlimit", "allowedHost", "issuer", "oauth"]) {
  test(`the option "${name}", which does not exist, is refused: it would have no effect`, () => {
    assert.throws(
      () => skillsService({ url: "https://skills.example", store: memoryStore(), [name]: 1 }),
      (error: unknown) => error instanceof TypeError && error.message.includes(`"${name}"`),
    );
  });
}

test.run();
