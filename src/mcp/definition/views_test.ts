import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Principal } from "../../http/principal.ts";
import { newServer, request } from "../test_server.ts";
import { prompt, resource, tool } from "./define.ts";
import { type CreateViews, type FindView, type View, viewedMethods } from "./views.ts";

const test = suite("mcp/views");

/** Each caller sees the common definitions and one tool of its own; `later` is resolved by a promise. */
const perCaller: CreateViews = (host) => {
  const views = new Map<string, View>();
  return toViews((principal: Principal | undefined) => {
    const name = principal?.client ?? "anonymous";
    const own = tool({ name: `of_${name}`, description: name, run: () => name });
    const view = views.get(name) ?? host.compile([
      ...host.definitions(),
      own,
      ...(name === "reader" ? [prompt({ name: "ask", get: () => "?" })] : []),
    ]);
    views.set(name, view);
    return name === "reader" ? Promise.resolve(view) : view;
  });
};

const toViews = (find: FindView, reset = () => {}) => ({ find, reset, methods: viewedMethods });

const shared = tool({ name: "shared", description: "For all", run: () => "all" });
const BEARER = { authorization: "Bearer reader" };
const newViewed = () =>
  newServer({
    definitions: [shared, resource({ uri: "test://a", name: "a", read: () => "" })],
    views: perCaller,
  });

const toolNames = async (server: ReturnType<typeof newServer>, headers = {}) =>
  (await server.post(request("tools/list"), headers)).body.result.tools.map((each: { name: string }) =>
    each.name
  );

test("callers are offered what their view has, and nothing of another's", async () => {
  const server = newViewed();
  assert.equal(await toolNames(server), ["shared", "of_anonymous"]);
  assert.equal(await toolNames(server, BEARER), ["shared", "of_reader"]);
  const own = await server.post(request("tools/call", { name: "of_reader" }), BEARER);
  assert.is(own.body.result.content[0].text, "reader");
  const other = await server.post(request("tools/call", { name: "of_reader" }));
  const unknown = await server.post(request("tools/call", { name: "of_nobody" }));
  assert.is(other.body.error.code, unknown.body.error.code);
});

test("a list of which only another view has entries is empty", async () => {
  const server = newViewed();
  assert.is((await server.post(request("prompts/list"), BEARER)).body.result.prompts.length, 1);
  assert.equal((await server.post(request("prompts/list"))).body.result.prompts, []);
  assert.is((await server.post(request("nothing/here"))).body.error.code, -32601);
});

test("a method that only another view has is not found", async () => {
  const completed = prompt({
    name: "about",
    arguments: [{ name: "topic", complete: () => ["a"] }],
    get: () => "",
  });
  const all: CreateViews = (host) => {
    const views = [host.compile(host.definitions()), host.compile([shared])] as const;
    return toViews((principal) => views[principal ? 0 : 1]);
  };
  const server = newServer({ definitions: [shared, completed], views: all });
  const asked = { ref: { type: "ref/prompt", name: "about" }, argument: { name: "topic", value: "" } };
  const known = await server.post(request("completion/complete", asked), BEARER);
  assert.equal(known.body.result.completion.values, ["a"]);
  assert.is((await server.post(request("completion/complete", asked))).body.error.code, -32601);
});

test("middleware runs around the definitions of a view", async () => {
  const seen: string[] = [];
  const server = newServer({
    definitions: [shared],
    views: perCaller,
    middleware: [(use, _, next) => {
      seen.push(use.name);
      return next();
    }],
  });
  await server.post(request("tools/call", { name: "of_anonymous" }));
  assert.equal(seen, ["of_anonymous"]);
});

test("replace resets the views", async () => {
  const views: CreateViews = (host) => {
    let view: View | undefined;
    return toViews(() => view ??= host.compile(host.definitions()), () => view = undefined);
  };
  const server = newServer({ definitions: [shared], views });
  assert.equal(await toolNames(server), ["shared"]);
  await server.server.replace([tool({ name: "other", description: "", run: () => "" })]);
  assert.equal(await toolNames(server), ["other"]);
});

test.run();
