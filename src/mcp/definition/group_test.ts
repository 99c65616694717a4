import { suite } from "uvu";
import * as assert from "uvu/assert";
import { prompt, resource, resourceTemplate, tool } from "./define.ts";
import { type CompletionContext, ToolError } from "./definition.ts";
import { RpcError } from "../../jsonrpc/error.ts";
import { group, type Middleware } from "./group.ts";
import { client, modern } from "../test_exchange.ts";
import { newServer, request } from "../test_server.ts";

const test = suite("mcp/group");
const seen: string[] = [];
const note = (name: string): Middleware => async (use, { principal }, next) => {
  seen.push(`${name} > ${use.kind} ${use.name} ${JSON.stringify(use.input)} ${principal?.client ?? "-"}`);
  const result = await next();
  seen.push(`${name} <`);
  return result;
};
const all = [
  tool({
    name: "t",
    description: "A tool",
    input: { type: "object", properties: { a: { type: "number", default: 1 } } },
    run: ({ a = 0 }) => `got ${a}`,
  }),
  resource({ uri: "test://r", name: "r", read: () => "r" }),
  resourceTemplate({ uriTemplate: "test://x/{id}", name: "x", read: ({ id }) => id }),
  prompt({ name: "p", arguments: [{ name: "who" }], get: ({ who }) => `for ${who}` }),
];

test("the names of tools and prompts get the prefix; lists may be nested", async () => {
  const { server } = newServer({ definitions: [[group({ prefix: "a_" }, [all])], [[all[0]!]]] });
  const names = async (method: string, member: string) =>
    (await modern(server, method)).answer.result[member].map((each: { name: string }) => each.name);
  assert.equal(await names("tools/list", "tools"), ["a_t", "t"]);
  assert.equal(await names("prompts/list", "prompts"), ["a_p"]);
  assert.equal(await names("resources/list", "resources"), ["r"]);
});

test("middleware runs around each kind of definition, the first is outermost", async () => {
  const definitions = group({ middleware: [note("outer")] }, group({ middleware: [note("inner")] }, all));
  const { server } = newServer({ definitions, middleware: [note("server")] });
  const run = async (method: string, params: Record<string, unknown>, headers = {}) => {
    seen.length = 0;
    const { answer } = await modern(server, method, params, { headers });
    return answer.result;
  };
  const called = await run("tools/call", { name: "t", arguments: { a: 2 } }, {
    authorization: "Bearer reader",
  });
  assert.is(called.content[0].text, "got 2");
  assert.equal(seen, [
    'server > tool t {"a":2} reader',
    'outer > tool t {"a":2} reader',
    'inner > tool t {"a":2} reader',
    "inner <",
    "outer <",
    "server <",
  ]);
  assert.is((await run("resources/read", { uri: "test://r" })).contents[0].text, "r");
  assert.is(seen[2], "inner > resource test://r undefined -");
  assert.is((await run("resources/read", { uri: "test://x/7" })).contents[0].text, "7");
  assert.is(seen[2], 'inner > resource_template test://x/{id} {"id":"7"} -');
  assert.is(
    (await run("prompts/get", { name: "p", arguments: { who: "Ann" } })).messages[0].content.text,
    "for Ann",
  );
  assert.is(seen[2], 'inner > prompt p {"who":"Ann"} -');
});

test("middleware may replace the handler, change the result, or refuse", async () => {
  const middleware: Middleware[] = [
    (_, __, next) => Promise.resolve(next()).then((result) => `changed ${result}`),
    ({ input }, _, next) => {
      const { a } = input as { a?: number };
      if (a === 13) throw new ToolError("Not thirteen");
      return a === 0 ? "zero" : next();
    },
  ];
  const { server } = newServer({ definitions: group({ middleware }, [all[0]!]) });
  const text = async (a: number) =>
    (await modern(server, "tools/call", { name: "t", arguments: { a } })).answer.result.content[0].text;
  assert.equal([await text(5), await text(0), await text(13)], [
    "changed got 5",
    "changed zero",
    "Not thirteen",
  ]);
});

test("middleware runs around completions, and may refuse them", async () => {
  const uses: unknown[] = [];
  const completed: unknown[] = [];
  const complete = (value: string, { principal, arguments: known }: CompletionContext) => {
    completed.push([value, known, principal?.client]);
    return ["secret"];
  };
  const onlyReader: Middleware = ({ kind, name, input, isCompletion }, { principal, revision }, next) => {
    uses.push([kind, name, input, isCompletion, revision]);
    if (principal?.client !== "reader") throw new RpcError(-32000, "For reader only");
    return next();
  };
  const definitions = group({ middleware: [onlyReader] }, [
    prompt({ name: "p", arguments: [{ name: "a" }, { name: "b", complete }], get: () => "x" }),
    resourceTemplate({
      uriTemplate: "test://x/{a}/{b}",
      name: "x",
      complete: { b: complete },
      read: () => "x",
    }),
  ]);
  const { server } = newServer({ definitions: group({ middleware: [note("outer")] }, definitions) });
  seen.length = 0;
  for (
    const [kind, name, ref] of [
      ["prompt", "p", { type: "ref/prompt", name: "p" }],
      ["resource_template", "test://x/{a}/{b}", { type: "ref/resource", uri: "test://x/{a}/{b}" }],
    ] as const
  ) {
    const params = { ref, argument: { name: "b", value: "s" }, context: { arguments: { a: "1" } } };
    assert.is((await modern(server, "completion/complete", params)).answer.error.code, 500);
    assert.equal(completed, []);
    const headers = { authorization: "Bearer reader" };
    const { answer } = await modern(server, "completion/complete", params, { headers });
    assert.equal(answer.result.completion.values, ["secret"]);
    assert.equal(completed.splice(0), [["s", { a: "1" }, "reader"]]);
    const use = [kind, name, { a: "1", b: "s" }, true, "2026-07-28"];
    assert.equal(uses.splice(0), [use, use]);
    assert.is(seen[0], `outer > ${kind} ${name} {"a":"1","b":"s"} -`);
    seen.length = 0;
    const argument = { name: "a", value: "" };
    const free = await modern(server, "completion/complete", { ref, argument });
    assert.equal(free.answer.result.completion.values, []);
  }
});

test("every kind of definition requires the scopes of its group and its own", async () => {
  const definitions = group({ scopes: ["read"] }, [{ ...all[0]!, scopes: ["write"] }, ...all.slice(1)]);
  const { server, post } = newServer({ definitions });
  const attempt = async (method: string, params: Record<string, unknown>, authorization = "Bearer reader") =>
    (await client(server).send(request(method, params), { authorization })).status;
  assert.is(await attempt("tools/call", { name: "t" }), 403);
  assert.is(await attempt("tools/call", { name: "t" }, "Bearer writer"), 200);
  for (
    const [method, params] of [
      ["resources/read", { uri: "test://r" }],
      ["resources/read", { uri: "test://x/1" }],
      ["prompts/get", { name: "p" }],
    ] as const
  ) {
    assert.is((await post(request(method, params))).status, 401);
    assert.is(await attempt(method, params), 200);
  }
  assert.equal((await post(request("prompts/list"))).body.result.prompts, []);
  assert.equal((await post(request("resources/list"))).body.result.resources, []);
});

test("a handler may require further scopes", async () => {
  const { server } = newServer({
    definitions: [tool({
      name: "careful",
      description: "Checks its arguments",
      input: { type: "object", properties: { all: { type: "boolean" } } },
      run({ all }, call) {
        if (all) call.requireScopes("read", "write");
        return "done";
      },
    })],
  });
  const attempt = (all: boolean, headers = {}) =>
    modern(server, "tools/call", { name: "careful", arguments: { all } }, { headers });
  assert.is((await attempt(false)).status, 200);
  assert.is((await attempt(true)).status, 401);
  const refused = await attempt(true, { authorization: "Bearer reader" });
  assert.is(refused.status, 403);
  assert.match(refused.headers.get("www-authenticate")!, /scope="read write"/);
  assert.is((await attempt(true, { authorization: "Bearer writer" })).status, 200);
});

test.run();
