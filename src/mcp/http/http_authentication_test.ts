import { suite } from "uvu";
import * as assert from "uvu/assert";
import { call, newServer, request } from "../test_server.ts";

const test = suite("mcp/http_authentication");

test("required: a missing token gets 401, and an invalid token 401 with invalid_token", async () => {
  const { post } = newServer({ auth: "required", resourceMetadata: "http://127.0.0.1/meta" });
  const missing = await post(request("ping"));
  assert.is(missing.status, 401);
  assert.is(missing.headers.get("www-authenticate"), 'Bearer resource_metadata="http://127.0.0.1/meta"');
  const bad = await post(request("ping"), { authorization: "Bearer wrong" });
  assert.is(bad.status, 401);
  assert.match(bad.headers.get("www-authenticate")!, 'error="invalid_token"');
  assert.is((await post(request("ping"), { authorization: "Bearer reader" })).status, 200);
});

test("optional: an invalid token is refused", async () => {
  const { post } = newServer();
  assert.is((await post(request("ping"))).status, 200);
  assert.is((await post(request("ping"), { authorization: "Bearer wrong" })).status, 401);
});

test("a tool with scopes is listed only for callers with these scopes; others get a challenge with all of them", async () => {
  const { post } = newServer();
  const names = async (authorization?: string) =>
    (await post(request("tools/list"), authorization ? { authorization } : {})).body.result.tools
      .map((tool: { name: string }) => tool.name).includes("secret");
  assert.equal([await names(), await names("Bearer reader"), await names("Bearer writer")], [
    false,
    false,
    true,
  ]);
  const anonymous = await post(call("secret"));
  assert.is(anonymous.status, 401);
  assert.is(anonymous.headers.get("www-authenticate"), 'Bearer scope="read write"');
  const reader = await post(call("secret"), { authorization: "Bearer reader" });
  assert.is(reader.status, 403);
  assert.match(
    reader.headers.get("www-authenticate")!,
    /^Bearer error="insufficient_scope", scope="read write", error_description="[^"]*read write"$/,
  );
  assert.is(reader.body.id, 1);
  const writer = await post(call("secret"), { authorization: "Bearer writer" });
  assert.equal(writer.body.result.content, [{ type: "text", text: "writer" }]);
});

test.run();
