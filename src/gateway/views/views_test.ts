import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Principal } from "../../http/principal.ts";
import type { ChangedFor } from "../../mcp/definition/changes.ts";
import { tool } from "../../mcp/definition/define.ts";
import type { Definition } from "../../mcp/definition/definition.ts";
import { call, newServer, READER, request, type TestServer } from "../../mcp/test_server.ts";
import { createGatewayViews, type ViewsOptions } from "./views.ts";

const test = suite("gateway/views");

const named = (name: string): Definition => tool({ name, description: name, run: () => name });
const BEARER = { authorization: "Bearer reader" };

/** A server with the tool `own` and the views of a gateway. `change` is what an upstream calls. */
function newViewed(
  options: Partial<ViewsOptions>,
): TestServer & { change(changedFor?: ChangedFor): void; invalid: string[] } {
  let change = (_?: ChangedFor): void => {};
  const invalid: string[] = [];
  const views = createGatewayViews({
    list: () => [],
    watch: (onChange) => void (change = onChange),
    implied: new Map(),
    isShared: () => false,
    onInvalid: (definition) => invalid.push((definition as { name: string }).name),
    ...options,
  });
  return {
    ...newServer({ definitions: [named("own")], views }),
    change: (changedFor) => change(changedFor),
    invalid,
  };
}

async function names({ post }: TestServer, headers = {}): Promise<string[]> {
  const { body } = await post(request("tools/list"), headers);
  return body.result.tools.map((each: { name: string }) => each.name);
}

test("each caller is offered the server's own tools and those of its upstreams", async () => {
  const list = (caller: Principal | undefined) => caller ? [named("github_search")] : [];
  const server = newViewed({ list });
  assert.equal(await names(server), ["own"]);
  assert.equal(await names(server, BEARER), ["own", "github_search"]);
  assert.is((await server.post(call("github_search"), BEARER)).body.result.content[0].text, "github_search");
  assert.ok((await server.post(call("github_search"))).body.error);
});

test("what the policy hides is neither listed nor called", async () => {
  const server = newViewed({
    list: () => [named("read"), named("remove")],
    isVisible: (definition, caller) => (definition as { name: string }).name !== "remove" || !caller,
  });
  assert.equal(await names(server), ["own", "read", "remove"]);
  assert.equal(await names(server, BEARER), ["own", "read"]);
  const hidden = (await server.post(call("remove"), BEARER)).body.error;
  assert.is(hidden.code, (await server.post(call("unknown"), BEARER)).body.error.code);
});

test("a policy hides by caller also where all callers share the sessions of the upstreams", async () => {
  const server = newViewed({
    list: () => [named("read"), named("remove")],
    isShared: () => true,
    isVisible: (definition, caller) => (definition as { name: string }).name !== "remove" || !caller,
  });
  assert.equal(await names(server), ["own", "read", "remove"]);
  assert.equal(await names(server, BEARER), ["own", "read"]);
});

test("an upstream's tool with the name of an own one, or given twice, does not replace the first", async () => {
  const foreign = tool({ name: "own", description: "foreign", run: () => "foreign" });
  const server = newViewed({ list: () => [foreign, named("a"), named("a")] });
  assert.equal(await names(server), ["own", "a"]);
  assert.is((await server.post(call("own"))).body.result.content[0].text, "own");
});

test("a definition that cannot be compiled is left out and reported, and the others stay", async () => {
  const broken = { ...named("broken"), name: "not a name" } as Definition;
  const server = newViewed({ list: () => [named("a"), broken, named("b")] });
  assert.equal(await names(server), ["own", "a", "b"]);
  assert.equal(server.invalid, ["not a name"]);
});

test("callers that are offered the same share a view, and it is compiled again after a change", async () => {
  let reads = 0;
  let listed = [named("a")];
  const counted = (): Definition[] => (reads++, listed);
  const server = newViewed({ list: counted });
  await names(server, BEARER);
  await names(server, BEARER);
  assert.is(reads, 1);
  await names(server);
  assert.is(reads, 2);
  listed = [named("b")];
  assert.equal(await names(server), ["own", "a"]);
  server.change();
  assert.equal(await names(server), ["own", "b"]);
});

for (const changedFor of [undefined, { user: READER }]) {
  test(`a list that comes after a change for ${changedFor ? "this user" : "all"} is not kept for later calls`, async () => {
    const slow = Promise.withResolvers<Definition[]>();
    let calls = 0;
    const server = newViewed({ list: () => ++calls === 1 ? slow.promise : [named("new")] });
    const first = names(server, BEARER);
    await new Promise((resolve) => setTimeout(resolve));
    server.change(changedFor);
    slow.resolve([named("old")]);
    assert.equal(await first, ["own", "old"]);
    assert.equal(await names(server, BEARER), ["own", "new"]);
  });
}

test("after a change for one user only this user's list is read again", async () => {
  const reads: (string | undefined)[] = [];
  const server = newViewed({ list: (caller) => (reads.push(caller?.client), []) });
  const all = async () => [await names(server, BEARER), await names(server)];
  await all();
  server.change({ user: READER });
  await all();
  server.change({ user: undefined });
  await all();
  assert.equal(reads, ["reader", undefined, "reader", undefined]);
});

test("callers with other scopes have views of their own", async () => {
  const seen: string[] = [];
  const server = newViewed({ list: (caller) => (seen.push(caller?.client ?? ""), []) });
  await names(server, BEARER);
  await names(server, { authorization: "Bearer writer" });
  assert.equal(seen, [READER.client, "writer"]);
});

test.run();
