import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createRandom } from "../http/test_random.ts";
import { newServer, request } from "../mcp/test_server.ts";
import { OpenApiError } from "./document.ts";
import { keepAnswers } from "./kept_answers.ts";
import { openApi, type OpenApiOptions } from "./open_api.ts";
import { errorOf, newApi, PET_SHOP } from "./test_api.ts";

const test = suite("openapi/open_api");

const names = (tools: { current(): readonly { kind: string; name: string }[] }) =>
  tools.current().flatMap(({ kind, name }) => kind === "tool" ? [name] : []);

test("the tools of a server are listed and called, and a large answer is read", async () => {
  const { tools } = newApi(
    { answerLimit: 50 },
    ({ url }) =>
      Response.json(url.endsWith("/public") ? { text: "x".repeat(100) } : { id: "7", name: "Rex" }),
  );
  const server = newServer({ definitions: [], sources: [tools] });
  const { body: list } = await server.post(request("tools/list"));
  assert.equal(
    list.result.tools.map(({ name }: { name: string }) => name),
    ["listPets", "createPet", "pets_get-one", "delete_pets_petId", "getPublic"],
  );
  const call = async (name: string, given: object) =>
    (await server.post(request("tools/call", { name, arguments: given }))).body.result;
  assert.equal((await call("pets_get-one", { petId: "7" })).structuredContent, { id: "7", name: "Rex" });
  assert.is((await call("pets_get-one", { petId: 7 })).isError, true);
  assert.is((await call("pets_get-one", { petId: ".." })).isError, true);
  assert.is((await call("createPet", { body: { name: 1 } })).isError, true);
  const cut = await call("getPublic", {});
  const { uri } = cut.content.find(({ type }: { type: string }) => type === "resource_link");
  const { body: read } = await server.post(request("resources/read", { uri }));
  assert.match(read.result.contents[0].text, /xxxx/);
});

test("names get a prefix, and tools require the scopes of their operation", () => {
  const { tools } = newApi({
    prefix: "shop_",
    scopes: ({ method }) => method === "GET" ? [] : ["pets:write"],
  });
  assert.is(names(tools)[0], "shop_listPets");
  const scopes = tools.current().flatMap((each) => each.kind === "tool" ? [each.scopes] : []);
  assert.equal(scopes, [undefined, ["pets:write"], undefined, ["pets:write"], undefined]);
});

test("the same API may be there twice, and both read large answers", async () => {
  const options = { answerLimit: 10 };
  const answer = () => new Response("x".repeat(20), { headers: { "content-type": "text/plain" } });
  const [a, b] = [newApi({ ...options, prefix: "a_" }, answer), newApi({ ...options, prefix: "b_" }, answer)];
  const { content } = await b.call("b_getPublic");
  const link = content.find(({ type }) => type === "resource_link") as { uri: string };
  assert.ok(await a.read(link.uri));
});

test("a damaged document makes errors that name the problem, or fewer tools", () => {
  const random = createRandom(7);
  const values = [null, 0, "x", [], {}, true, { $ref: "#/components" }, { $ref: "#/paths" }, ["object"], -1];
  for (let round = 0; round < 150; round++) {
    const document = structuredClone(PET_SHOP) as Record<string, unknown>;
    for (let count = 0; count < 3; count++) damage(document, random, values);
    try {
      const server = newServer({ definitions: openApi({ document, select: "all" }).current() });
      assert.type(server.server.listTools().length, "number");
    } catch (error) {
      assert.instance(error, OpenApiError, `round ${round}: ${(error as Error).stack}`);
    }
  }
});

/** Replaces a random member somewhere in the value. */
function damage(value: object, random: (limit: number) => number, values: readonly unknown[]): void {
  let parent = value as Record<string, unknown>;
  for (;;) {
    const keys = Object.keys(parent);
    if (keys.length === 0) return;
    const key = keys[random(keys.length)]!;
    const child = parent[key];
    if (typeof child !== "object" || child === null || random(5) === 0) {
      parent[key] = structuredClone(values[random(values.length)]);
      return;
    }
    parent = child as Record<string, unknown>;
  }
}

test("a document may be text, JSON with a byte order mark or another format with its parser", async () => {
  const text = JSON.stringify(PET_SHOP);
  assert.is(names(openApi({ document: text })).length, 3);
  assert.is(names(openApi({ document: "\ufeff" + text })).length, 3);
  assert.is(names(openApi({ document: "yaml: x", parse: () => PET_SHOP })).length, 3);
  assert.match(await errorOf(() => openApi({ document: "yaml: x" })), /parse/);
  const parse = () => {
    throw new Error("bad");
  };
  assert.match(await errorOf(() => openApi({ document: "yaml: x", parse })), /could not be parsed/);
});

test("a document at a URL is loaded when the server needs it, and again on demand", async () => {
  let document: object = PET_SHOP;
  const urls: string[] = [];
  const tools = openApi({
    document: "https://eu.pets.example/openapi.json",
    fetch: (url) => {
      urls.push(url);
      return Promise.resolve(Response.json(document));
    },
  });
  let changes = 0;
  tools.watch(() => changes++);
  assert.equal(names(tools), []);
  await Promise.all([tools.ready(), tools.ready()]);
  assert.is(names(tools).length, 3);
  assert.is(urls.length, 1);
  document = { ...PET_SHOP, paths: { "/public": PET_SHOP.paths["/public"] } };
  await tools.reload();
  assert.equal(names(tools), ["getPublic"]);
  assert.is(changes, 2);
  document = { swagger: "2.0" };
  assert.match(await errorOf(() => tools.reload()), /Swagger/);
  assert.equal(names(tools), ["getPublic"]);
});

test("of two loads at once the document of the later one is used", async () => {
  const answers: ((response: Response) => void)[] = [];
  const tools = openApi({
    document: "https://eu.pets.example/openapi.json",
    fetch: () => new Promise((resolve) => answers.push(resolve)),
  });
  const loads = [tools.reload(), tools.reload()];
  answers[1]!(Response.json({ ...PET_SHOP, paths: { "/public": PET_SHOP.paths["/public"] } }));
  await loads[1];
  answers[0]!(Response.json(PET_SHOP));
  await loads[0];
  assert.equal(names(tools), ["getPublic"]);
});

test("a document that names a server elsewhere needs the operator's word", async () => {
  const problems: string[] = [];
  const load = async (options: object) => {
    const tools = openApi({
      document: new URL("https://docs.example/openapi.json"),
      fetch: () => Promise.resolve(Response.json(PET_SHOP)),
      onProblem: ({ message }) => problems.push(message),
      ...options,
    });
    await tools.ready();
    tools.close();
    return names(tools).length;
  };
  assert.is(await load({}), 0);
  assert.match(problems[0]!, /https:\/\/eu\.pets\.example\/v1\/.*set "server"/);
  assert.is(await load({ server: "https://eu.pets.example/v1" }), 3);
});

test("a document is not loaded over http, nor from where a redirect leads", async () => {
  const problems: string[] = [];
  for (const document of ["http://docs.example/openapi.json", "https://docs.example/moved"]) {
    const tools = openApi({
      document,
      server: "https://a.example",
      fetch: () =>
        Promise.resolve(new Response(null, { status: 302, headers: { location: "https://x.example" } })),
      onProblem: ({ message }) => problems.push(message),
    });
    await tools.ready();
    tools.close();
    assert.equal(names(tools), []);
  }
  assert.is(problems.length, 2);
});

test("options out of range are refused", async () => {
  for (
    const wrong of [{ timeout: 0 }, { answerLimit: 1.5 }, { schemaLimit: -1 }, { name: "a/b" }, {
      prefix: "a.",
    }]
  ) {
    assert.match(await errorOf(() => openApi({ document: PET_SHOP, ...wrong })), /must be/);
  }
  for (const wrong of [{ maxBytes: NaN }, { lifetime: -1 }]) {
    assert.match(await errorOf(() => keepAnswers(wrong)), /must be/);
  }
});

test("a selection or security in other words is refused, also before the document is loaded", () => {
  for (
    const [option, wrong] of [
      ["select", { select: "All" }],
      ["select", { select: [] }],
      ["select", { select: null }],
      ["select.tag", { select: { tag: ["pets"] } }],
      ["select.methods", { select: { methods: "GET" } }],
      ["select.deprecated", { select: { deprecated: "false" } }],
      ["security", { security: "Always" }],
    ] as const
  ) {
    for (const document of [PET_SHOP, "https://api.example.com/openapi.json"]) {
      assert.throws(
        () => openApi({ document, ...wrong } as unknown as OpenApiOptions),
        (error: unknown) => error instanceof TypeError && error.message.includes(`"openApi.${option}"`),
      );
    }
  }
});

test.run();
