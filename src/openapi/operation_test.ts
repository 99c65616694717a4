import { suite } from "uvu";
import * as assert from "uvu/assert";
import { readDocument } from "./document.ts";
import { listOperations } from "./operation.ts";
import { type Select, selectOperations } from "./select.ts";
import { errorOf, newApi, oneOperation, PET_SHOP } from "./test_api.ts";

const test = suite("openapi/operation");

const list = (paths: object, version = "3.1.0") =>
  listOperations(readDocument({ openapi: version, info: {}, paths }));
const names = (paths: object) => list(paths).operations.map(({ name }) => name);
const select = (select: Select) =>
  selectOperations(listOperations(readDocument(PET_SHOP)).operations, select).map(({ name }) => name);

test("names come from operationId, with the characters that models allow, or from method and path", () => {
  assert.equal(names(PET_SHOP.paths), [
    "listPets",
    "createPet",
    "pets_get-one",
    "delete_pets_petId",
    "getPublic",
  ]);
  assert.equal(names({ "/": { get: { operationId: "…" } } }), ["operation"]);
});

test("names that are too long or not unique get a suffix, which does not depend on the order", () => {
  const a = { get: { operationId: "same" } };
  const b = { get: { operationId: "Same" } };
  const forwards = names({ "/a": a, "/b": b, "/c": { get: { operationId: "o".repeat(90) } } });
  const backwards = names({ "/b": b, "/a": a });
  assert.is(new Set(forwards.map((each) => each.toLowerCase())).size, 3);
  assert.ok(forwards.every((each) => /^[A-Za-z0-9_-]{1,64}$/.test(each)), forwards.join());
  assert.equal(backwards.toReversed(), forwards.slice(0, 2));
});

test("parameters of an operation replace those of its path, in the same place only", () => {
  const [operation] = list({
    "/a": {
      parameters: [{ name: "n", in: "query", schema: 1 }, { name: "m", in: "query", schema: 1 }],
      get: { parameters: [{ name: "n", in: "query", schema: 2 }, { name: "n", in: "header", schema: 3 }] },
    },
  }).operations;
  assert.equal(operation!.parameters.map(({ schema }) => schema), [2, 1, 3]);
});

test("path items and parameters may be references; a broken or circular one skips what has it", () => {
  const { operations, skipped } = listOperations(readDocument({
    openapi: "3.0.3",
    paths: {
      "/a": { $ref: "#/x-items/a~1b" },
      "/lost": { $ref: "#/nowhere" },
      "/circle": { get: { parameters: [{ $ref: "#/x-items/circle" }] } },
      "/file": { get: { parameters: [{ $ref: "other.yaml#/a" }] } },
      "/proto": { $ref: "#/constructor" },
    },
    "x-items": { "a/b": { get: { operationId: "a" } }, circle: { $ref: "#/x-items/circle" } },
  }));
  assert.equal(operations.map(({ name }) => name), ["a"]);
  assert.equal(skipped.map(({ path }) => path), ["/lost", "/circle", "/file", "/proto"]);
});

test("other versions and values are refused", async () => {
  for (const root of [null, [], "text", {}, { swagger: "2.0" }, { openapi: "4.0.0" }, { openapi: 3 }]) {
    assert.match(await errorOf(() => readDocument(root)), /./);
  }
  assert.ok(readDocument({ openapi: "3.0" }).isVersion30);
  assert.not.ok(readDocument({ openapi: "3.1.1" }).isVersion30);
});

test("without `select`, only operations that read become tools", () => {
  const { tools } = newApi({ document: PET_SHOP, select: undefined! });
  const found = tools.current().flatMap((each) => each.kind === "tool" ? [each.name] : []);
  assert.equal(found, ["listPets", "pets_get-one", "getPublic"]);
});

test("operations are selected by tag, id or name, method, path and function", () => {
  assert.equal(select("safe"), ["listPets", "pets_get-one", "getPublic"]);
  assert.is(select("all").length, 5);
  assert.equal(select({ tags: ["pets"] }), ["listPets", "pets_get-one"]);
  assert.equal(select({ operations: ["createPet", "pets_get-one"] }), ["createPet", "pets_get-one"]);
  assert.equal(select({ operations: ["pets/get-one"] }), ["pets_get-one"]);
  assert.equal(select({ methods: ["post", "DELETE"] }), ["createPet", "delete_pets_petId"]);
  assert.equal(select({ paths: ["/pets/*"], methods: ["GET", "DELETE"] }), [
    "pets_get-one",
    "delete_pets_petId",
  ]);
  assert.equal(select({ paths: ["/**"], methods: ["GET", "DELETE"], deprecated: false }), [
    "listPets",
    "pets_get-one",
    "getPublic",
  ]);
  assert.equal(select({ paths: ["/pe*"] }), ["listPets"]);
  assert.equal(select(({ path }) => path === "/public"), ["getPublic"]);
});

test("a selection that names something unknown is refused", async () => {
  for (const wrong of [{ tags: ["pet"] }, { operations: ["listpets"] }, { paths: ["/pet"] }]) {
    assert.match(await errorOf(() => select(wrong)), /no operation/);
  }
});

test("annotations follow the method", () => {
  const api = newApi();
  assert.equal(api.tool("listPets").annotations, { readOnlyHint: true, openWorldHint: true });
  assert.is(api.tool("createPet").annotations?.readOnlyHint, false);
  const remove = api.tool("delete_pets_petId");
  assert.is(remove.annotations?.destructiveHint, true);
  assert.is(remove.annotations?.idempotentHint, true);
  assert.match(remove.description, /^Deprecated\. DELETE/);
});

test("what is not supported is skipped with a reason, and the rest becomes tools", () => {
  const cases: [object, RegExp, method?: string][] = [
    [{ parameters: [{ name: "q", in: "querystring", schema: {} }] }, /querystring/],
    [{ parameters: [{ name: "q", in: "query", style: "matrix", schema: {} }] }, /Style "matrix"/],
    [{ requestBody: { content: { "multipart/mixed": {} } } }, /media type/, "post"],
    [{ requestBody: { required: true, content: { "application/json": {} } } }, /body of GET/],
    [{ security: [{ unknown: [] }] }, /security scheme/],
    [{ servers: [{ url: "https://elsewhere.example" }] }, /another server/],
    [{ parameters: [{ name: "a b", in: "header", schema: {} }] }, /valid name/],
    [{ parameters: [{ name: "q", in: "query", schema: { $ref: "other.json" } }] }, /Reference/],
    [{ parameters: [{ name: "q", in: "query", schema: { $id: "https://a" } }] }, /\$id/],
  ];
  for (const [operation, reason, method] of cases) {
    const { tools } = newApi({ document: oneOperation(operation, "/things", method) });
    assert.equal(tools.current(), []);
    assert.match(tools.skipped()[0]!.reason, reason);
  }
  const { tools } = newApi({ document: oneOperation({}, "/a/{b}") });
  assert.match(tools.skipped()[0]!.reason, /variable/);
});

test("a body of GET is left out, as it cannot be sent", async () => {
  const requestBody = { content: { "application/json": { schema: { type: "object" } } } };
  const { call, requests, tool } = newApi({ document: oneOperation({ requestBody }) });
  assert.equal(Object.keys((tool("op").input as { properties: object }).properties), []);
  await call("op");
  assert.is(requests[0]!.body, undefined);
});

test.run();
