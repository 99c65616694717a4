import { suite } from "uvu";
import * as assert from "uvu/assert";
import { assertLoopIsFree } from "../http/test_loop_watchdog.ts";
import { openApi } from "./open_api.ts";
import { errorOf, newApi, oneOperation, PET_SHOP } from "./test_api.ts";

const test = suite("openapi/request");

const petId = (petId: unknown) => ({ petId });

test("a request has the address, the query, the fields and the cookies of its arguments", async () => {
  const api = newApi();
  await api.call("listPets", { limit: 5, tags: ["a b", "c&d"], "X-Trace": "t", session: "s;x=1" });
  const [{ url, method, headers, redirect }] = api.requests as [typeof api.requests[0]];
  assert.is(url, "https://eu.pets.example/v1/pets?limit=5&tags=a%20b&tags=c%26d");
  assert.is(method, "GET");
  assert.is(redirect, "manual");
  assert.is(headers.get("x-trace"), "t");
  assert.is(headers.get("cookie"), "session=s%3Bx%3D1");
  assert.match(headers.get("accept")!, /^application\/json, /);
});

test("a parameter with content is JSON where its media type is", async () => {
  const content = (type: string) => ({ [type]: { schema: { type: "string" } } });
  const api = newApi({
    document: oneOperation({
      parameters: [
        { name: "text", in: "query", content: content("text/plain") },
        { name: "json", in: "query", content: content("application/json") },
      ],
    }),
  });
  await api.call("op", { text: "abc", json: "abc" });
  assert.is(new URL(api.requests[0]!.url).search, "?text=abc&json=%22abc%22");
});

test("a value of the path is one segment, whatever it is", async () => {
  const api = newApi();
  const values = [
    "a/b",
    "?admin=1",
    "#x",
    "é",
    "a%2Fb",
    "@evil.example",
    "//evil.example",
    ":80",
    "a b",
    "...",
    "a.b",
  ];
  for (const value of values) await api.call("pets_get-one", petId(value));
  for (const [at, { url }] of api.requests.entries()) {
    const { origin, pathname, search, hash } = new URL(url);
    assert.is(origin, "https://eu.pets.example");
    assert.is(decodeURIComponent(pathname), `/v1/pets/${values[at]}`);
    assert.is(pathname.split("/").length, 4);
    assert.is(search + hash, "");
  }
});

test("dot segments, however encoded, empty values and control characters are refused in a path", async () => {
  const api = newApi();
  const values = [
    ".",
    "..",
    "../admin",
    "..\\admin",
    "a/../b",
    "%2e%2e",
    "%2E.",
    "..%2fadmin",
    "a%2f..%2fb",
    "%252e%252e%252fadmin",
    "..%5cadmin",
    "..;/admin",
    "..?x",
    "..#x",
    "",
    [],
    {},
    null,
    undefined,
    "a\r\nb",
    "a\0",
    "%2525252525252e",
  ];
  for (const value of values) {
    const message = await errorOf(() => api.call("pets_get-one", petId(value)));
    assert.match(message, /^Invalid arguments/, JSON.stringify(value));
  }
  assert.equal(api.requests, []);
});

test("a list or an object with an empty item is refused in a path, in every style", async () => {
  for (const style of ["simple", "label", "matrix"]) {
    for (const explode of [false, true]) {
      const parameters = [{ name: "ids", in: "path", required: true, style, explode, schema: {} }];
      const api = newApi({ document: oneOperation({ parameters }, "/pets/{ids}", "delete") });
      for (const ids of [[""], ["a", "", "b"], { a: "" }, { a: null }, { a: undefined }]) {
        const message = await errorOf(() => api.call("op", { ids }));
        assert.match(message, /^Invalid arguments/, `${style} ${explode} ${JSON.stringify(ids)}`);
      }
      assert.equal(api.requests, []);
      await api.call("op", { ids: ["a", "b"] });
      assert.is(api.requests.length, 1);
    }
  }
});

test("a label or matrix style makes no dot segment", async () => {
  for (const style of ["label", "matrix", "simple"]) {
    const parameters = [{ name: "a", in: "path", required: true, style, schema: {} }];
    const api = newApi({ document: oneOperation({ parameters }, "/x/{a}/y") });
    for (const value of [".", "..", ["."], ["", ""]]) {
      await api.call("op", { a: value }).catch(() => {});
    }
    for (const { url } of api.requests) assert.match(url, /^https:\/\/api\.example\/base\/x\/[^/]+\/y$/);
  }
});

test("two parameters in one segment cannot make a dot segment together", async () => {
  const parameters = ["a", "b"].map((name) => ({ name, in: "path", required: true, schema: {} }));
  const api = newApi({ document: oneOperation({ parameters }, "/x/{a}.{b}") });
  await api.call("op", { a: "1", b: "2" });
  assert.is(api.requests[0]!.url, "https://api.example/base/x/1.2");
  const joined = newApi({ document: oneOperation({ parameters }, "/x/{a}{b}/y") });
  assert.match(await errorOf(() => joined.call("op", { a: ".", b: "." })), /^Invalid arguments/);
  const half = newApi({ document: oneOperation({ parameters }, "/x/.{a}{b}/y") });
  assert.match(await errorOf(() => half.call("op", { a: ".", b: "" })), /^Invalid arguments/);
});

test("a path of the document stays below the address of the server", async () => {
  for (const path of ["/../admin", "/a/%2e%2e/../../admin", "/x/./y", "/.%2E/admin"]) {
    const api = newApi({ document: oneOperation({}, path) });
    assert.match(await errorOf(() => api.call("op")), /another path/);
    assert.equal(api.requests, []);
  }
  for (const path of ["//evil.example/x", "/@evil.example", "/a?b#c"]) {
    const api = newApi({ document: oneOperation({}, path) });
    await api.call("op");
    assert.match(api.requests[0]!.url, /^https:\/\/api\.example\/base\/[^?#]+$/);
  }
});

test("a header field cannot end early, and fields of the connection are no arguments", async () => {
  const names = [
    "Host",
    "Content-Length",
    "Transfer-Encoding",
    "Cookie",
    "X-HTTP-Method-Override",
    "Authorization",
    "Accept",
  ];
  const parameters = [...names, "X-Trace"].map((name) => ({
    name,
    in: "header",
    schema: { type: "string" },
  }));
  const api = newApi({ document: oneOperation({ parameters }) });
  const { properties } = api.tool("op").input as { properties: object };
  assert.equal(Object.keys(properties), ["X-Trace"]);
  for (const value of ["a\r\nHost: evil", "a\nb", "a\0", "\u2028", "x".repeat(9000)]) {
    assert.match(await errorOf(() => api.call("op", { "X-Trace": value })), /^Invalid arguments/);
  }
  assert.equal(api.requests, []);
  await api.call("op", { "X-Trace": "a, é" });
  assert.is(api.requests[0]!.headers.get("x-trace"), "a, é");
});

test("names of arguments are those that models allow, and are unique", async () => {
  const parameters = [
    ["filter[a]", "query"],
    ["id", "query"],
    ["id", "header"],
    ["body", "query"],
    ["$", "query"],
    ["@", "query"],
  ].map(([name, place]) => ({ name, in: place, schema: {} })).filter(({ name, in: place }) =>
    place !== "header" || name
  );
  const api = newApi({ document: oneOperation({ parameters }) });
  const { properties } = api.tool("op").input as { properties: object };
  const names = Object.keys(properties);
  assert.equal(names, ["filter_a", "id_query", "id_header", "body_query", "value_query", "value_query_2"]);
  await api.call("op", Object.fromEntries(names.map((name) => [name, name])));
  assert.is(
    api.requests[0]!.url,
    "https://api.example/base/things?filter%5Ba%5D=filter_a&id=id_query&body=body_query&%24=value_query&%40=value_query_2",
  );
});

test("attack: an argument of megabytes that cannot be sent is refused before it is written", async () => {
  const parameter = (name: string, more: object) => ({ name, schema: {}, ...more });
  const parameters = [
    parameter("segment", { in: "path", required: true }),
    parameter("q", { in: "query", allowReserved: true }),
    parameter("deep", { in: "query", style: "deepObject", explode: true }),
    parameter("X-Field", { in: "header" }),
    parameter("crumb", { in: "cookie" }),
  ];
  const api = newApi({ document: oneOperation({ parameters }, "/things/{segment}") });
  const text = "/(".repeat(2_000_000);
  const list = Array(390_000).fill(1);
  const object = Object.fromEntries(Array.from({ length: 22_000 }, (_, i) => [`k${i}`, text.slice(0, 99)]));
  for (const name of ["segment", "q", "deep", "X-Field", "crumb"]) {
    for (const value of [text, list, object, [[list]], Array(390_000).fill(""), Array(390_000).fill([])]) {
      const input = { segment: "a", [name]: value };
      await assertLoopIsFree(async () => {
        assert.match(await errorOf(() => api.call("op", input)), /16384 characters|8192 characters/);
      });
    }
  }
});

test("attack: long names that many values of a query share are refused before they are written", async () => {
  const parameters = [{ name: "q", in: "query", style: "deepObject", explode: true, schema: {} }];
  const api = newApi({ document: oneOperation({ parameters }) });
  let deep: unknown = Array(4000).fill(1);
  for (let i = 0; i < 300; i++) deep = { ["é".repeat(20)]: deep };
  for (const q of [deep, { ["k".repeat(8000)]: Array(4000).fill(1) }]) {
    await assertLoopIsFree(async () => {
      assert.match(await errorOf(() => api.call("op", { q })), /16384 characters/);
    });
  }
});

test("the address is the operator's choice, or that of the document with the operator's variables", async () => {
  const address = async (options: object) => {
    const api = newApi(options);
    await api.call("getPublic");
    return api.requests[0]!.url;
  };
  assert.is(await address({ serverVariables: { region: "us" } }), "https://us.pets.example/v1/public");
  assert.is(await address({ server: "https://other.example/" }), "https://other.example/public");
  assert.is(await address({ server: "http://localhost:8080/api" }), "http://localhost:8080/api/public");
  assert.is(
    await address({ server: "http://pets.internal", allowHttp: true }),
    "http://pets.internal/public",
  );
});

test("addresses that are relative, not https, or have more than a path are refused", async () => {
  for (
    const server of [
      "http://pets.internal",
      "/v1",
      "ftp://a.example",
      "https://u:p@a.example",
      "https://a.example?x",
      "file:///etc/passwd",
    ]
  ) {
    assert.match(await errorOf(() => openApi({ document: PET_SHOP, server })), /server address/);
  }
  const servers = [{ url: "https://{host}/" }];
  assert.match(await errorOf(() => openApi({ document: { ...PET_SHOP, servers } })), /variable "host"/);
  assert.match(await errorOf(() => openApi({ document: { ...PET_SHOP, servers: [] } })), /set "server"/);
});

test("an operation may have another path on the same server", async () => {
  const api = newApi({ document: oneOperation({ servers: [{ url: "https://api.example/other" }] }) });
  await api.call("op");
  assert.is(api.requests[0]!.url, "https://api.example/other/things");
});

test.run();
