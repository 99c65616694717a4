import { suite } from "uvu";
import * as assert from "uvu/assert";
import { respondText } from "./response.ts";
import { createRouter, pathOf, queryOf } from "./router.ts";

const test = suite("http/router");

function newRouter(base = "") {
  const route = createRouter({
    base,
    routes: [
      { method: "GET", path: "/", handle: () => respondText(200, "home") },
      { method: "GET", path: "/things", handle: () => respondText(200, "list", [["x-kind", "list"]]) },
      { method: "POST", path: "/things", handle: () => respondText(200, "made") },
      { method: "GET", path: "/things/:id", handle: (_, __, { id }) => respondText(200, `thing ${id}`) },
      { method: "GET", path: "/things/new", handle: () => respondText(200, "form") },
      {
        method: "DELETE",
        path: "/things/:id/parts/:part",
        handle: (_, __, p) => respondText(200, JSON.stringify(p)),
      },
    ],
    refuse: (status, _request, allow) => respondText(status, "no", [["allow", allow]]),
  });
  return async (path: string, method = "GET") =>
    await route(new Request("http://host" + path, { method }), {});
}

async function textOf(path: string, method = "GET", base = ""): Promise<[number, string]> {
  const response = await newRouter(base)(path, method);
  return [response.status, await response.text()];
}

test("literal segments take precedence over parameters, and queries are ignored", async () => {
  assert.equal(await textOf("/"), [200, "home"]);
  assert.equal(await textOf("/things?x=/y"), [200, "list"]);
  assert.equal(await textOf("/things/new"), [200, "form"]);
  assert.equal(await textOf("/things/7"), [200, "thing 7"]);
  assert.equal(await textOf("/things/a/parts/b", "DELETE"), [200, '{"id":"a","part":"b"}']);
});

test("parameters are percent-decoded once, and an encoded slash does not split them", async () => {
  assert.equal(await textOf("/things/a%20b%2Fc%2541"), [200, "thing a b/c%41"]);
});

test("a path without a route gets 404, also one with an empty or malformed segment", async () => {
  for (
    const path of [
      "/other",
      "/things/",
      "/things//parts/b",
      "/things/a/parts",
      "/things/%ff",
      "/things/%",
      "//",
    ]
  ) {
    assert.equal(await textOf(path), [404, "no"], path);
  }
});

test("a method without a route gets 405 with Allow", async () => {
  const response = await newRouter()("/things", "DELETE");
  assert.is(response.status, 405);
  assert.is(response.headers.get("allow"), "GET, HEAD, POST, OPTIONS");
});

test("OPTIONS gets 204 with Allow", async () => {
  const response = await newRouter()("/things/1", "OPTIONS");
  assert.is(response.status, 204);
  assert.is(response.headers.get("allow"), "GET, HEAD, OPTIONS");
});

test("HEAD gets the response of GET without content", async () => {
  const response = await newRouter()("/things", "HEAD");
  assert.is(response.status, 200);
  assert.is(response.headers.get("x-kind"), "list");
  assert.is(response.headers.get("content-length"), "4");
  assert.is(await response.text(), "");
});

test("with a base only paths below the base are routes", async () => {
  assert.equal(await textOf("/tenant/things", "GET", "/tenant"), [200, "list"]);
  assert.equal(await textOf("/tenant/things/3", "GET", "/tenant"), [200, "thing 3"]);
  assert.equal(await textOf("/things", "GET", "/tenant"), [404, "no"]);
  assert.equal(await textOf("/tenantthings", "GET", "/tenant"), [404, "no"]);
});

test("pathOf() and queryOf() return the parts of a URL unchanged", () => {
  assert.is(pathOf("http://h"), "/");
  assert.is(pathOf("http://h/a/b?c=/d#e"), "/a/b");
  assert.is(pathOf("https://[::1]:80/a#?"), "/a");
  assert.is(queryOf("http://h/a?b=c&d#e"), "b=c&d");
  assert.is(queryOf("http://h/a"), "");
});

test.run();
