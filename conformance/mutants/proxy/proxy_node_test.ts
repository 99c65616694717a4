/**
 * Faults before a server that is not Trivet: paths are translated, faults change what they should, and results are
 * distinguished.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { exchange, type HttpRequest } from "../../runner/exchange/exchange.ts";
import { moduleSender } from "../../runner/exchange/send_module.ts";
import { combine } from "../accept_refused.ts";
import {
  AUTHORIZE,
  changeForms,
  changeJson,
  changeRedirects,
  changeResponses,
  onPath,
  TOKEN,
  withHeaders,
} from "../http_faults.ts";
import type { Mutant, Wrap } from "../mutant.ts";
import { BEYOND, CLIENTS, replaceRegistered, SCOPES } from "../registered_clients.ts";
import { followAuthorizations } from "./continuations.ts";
import { faultSender } from "./fault_sender.ts";
import { translatePaths } from "./paths.ts";
import { isProxyMutant, runProxyMutants } from "./run_proxy.ts";

const test = suite("mutants before any server");

const LIMITS = { seconds: 5, bytes: 1 << 20 };
const paths = translatePaths({
  token: "https://server.example/token",
  registration: "https://server.example/token/clients",
  resource: "https://api.example/me",
});

test("paths become those of Trivet, and the server's again", () => {
  const both = [
    ["https://server.example/token?a=%2Fb", "https://server.example/oauth/token?a=%2Fb"],
    ["https://server.example/token/clients/7", "https://server.example/oauth/register/7"],
    ["https://api.example/me", "https://api.example/api/user"],
    ["https://server.example/me", "https://server.example/me"],
    ["https://server.example/tokens", "https://server.example/tokens"],
    ["https://server.example/login", "https://server.example/other-path/login"],
  ];
  for (const [server, trivet] of both) {
    assert.is(paths.toTrivet(server!), trivet);
    assert.is(paths.toServer(trivet!), server);
  }
});

const seen: string[] = [];
const server = moduleSender(async (request) => {
  seen.push(`${new URL(request.url).pathname} ${await request.text()}`);
  return new Response("{}", { headers: { "content-type": "application/json", "cache-control": "no-store" } });
});
const post = (): HttpRequest => ({
  method: "POST",
  url: "https://server.example/token",
  fields: [["content-type", "application/x-www-form-urlencoded"]],
  without: [],
  body: new TextEncoder().encode("code=C&scope=a"),
  raw: false,
  wire: undefined,
});

async function send(wrap?: Wrap): Promise<{ fields: Headers; sent: string; hasChanged: boolean }> {
  const sender = faultSender(server, paths, wrap);
  const { fields } = await exchange(sender, post(), LIMITS);
  const headers = new Headers(fields.map(([name, value]): [string, string] => [name, value]));
  return { fields: headers, sent: seen.at(-1)!, hasChanged: sender.hasChanged() };
}

test("without a fault nothing changes", async () => {
  const { fields, sent, hasChanged } = await send();
  assert.equal([fields.get("cache-control"), sent, hasChanged], ["no-store", "/token code=C&scope=a", false]);
});

test("a fault changes the response", async () => {
  const { fields, hasChanged } = await send(
    changeResponses(TOKEN, (answer) => withHeaders(answer, { "cache-control": undefined })),
  );
  assert.equal([fields.get("cache-control"), hasChanged], [null, true]);
});

test("a fault changes the request", async () => {
  const { sent, hasChanged } = await send(changeForms(TOKEN, (form) => form.delete("scope")));
  assert.equal([sent, hasChanged], ["/token code=C", true]);
});

test("a fault of another path changes nothing", async () => {
  const { sent, hasChanged } = await send(changeForms("/oauth/revoke", (form) => form.delete("scope")));
  assert.equal([sent, hasChanged], ["/token code=C&scope=a", false]);
});

/** Sends the browser from the authorization endpoint to a page of its own, and from there to the client. */
const ownPages = moduleSender((request) => {
  const { pathname, searchParams } = new URL(request.url);
  const to = pathname === "/auth"
    ? `/pages/7?kept=${searchParams.get("state")}`
    : pathname === "/pages/7/allow"
    ? "https://app.example/cb?code=C&state=S"
    : undefined;
  if (to !== undefined) {
    return Promise.resolve(new Response(null, { status: 303, headers: { location: to } }));
  }
  return Promise.resolve(new Response(`page ${request.url}`, { headers: { "x-frame-options": "DENY" } }));
});
const authorization = translatePaths({
  authorization: "https://server.example/auth",
  login: "https://server.example/login",
});

test("a fault of the authorization endpoint applies to the pages that continue a request", async () => {
  const framed = changeResponses(
    AUTHORIZE,
    (answer) => withHeaders(answer, { "x-frame-options": undefined }),
  );
  const stateless = changeRedirects(AUTHORIZE, (location) => {
    if (location.origin === "https://app.example") location.searchParams.delete("state");
    return location;
  });
  const sender = faultSender(ownPages, authorization, combine(framed, stateless));
  const open = async (url: string, method = "GET") => {
    const { status, fields, body } = await exchange(
      sender,
      { ...post(), method, url, body: undefined },
      LIMITS,
    );
    const headers = new Headers(fields.map(([name, value]): [string, string] => [name, value]));
    return { status, headers, text: new TextDecoder().decode(body) };
  };
  const before = await open("https://server.example/pages/7");
  assert.is(before.headers.get("x-frame-options"), "DENY");
  await open("https://server.example/auth?state=S");
  const page = await open("https://server.example/pages/7?kept=S");
  assert.is(page.headers.get("x-frame-options"), null);
  assert.is(page.text, "page https://server.example/pages/7?kept=S");
  const allowed = await open("https://server.example/pages/7/allow", "POST");
  assert.is(allowed.headers.get("location"), "https://app.example/cb?code=C");
  const other = await open("https://server.example/pages/8");
  assert.is(other.headers.get("x-frame-options"), "DENY");
});

test("where a request continues is learned from redirects of the server, not from its other endpoints", () => {
  const pages = followAuthorizations(authorization);
  const request = "https://server.example/auth?client_id=a";
  pages.follow("https://server.example/other", "/pages/1");
  pages.follow(request, "https://app.example/pages/2");
  pages.follow(request, "/login");
  for (const path of ["/pages/1", "/pages/2", "/login"]) {
    assert.is(pages.find(`https://server.example${path}`), undefined);
  }
  pages.follow(request, "/pages/3?x=1");
  pages.follow("https://server.example/pages/3", "/pages/4");
  const known = "https://server.example/oauth/authorize?client_id=a";
  assert.equal(
    ["/pages/3", "/pages/3/sign-in", "/pages/4?y=2", "/pages/33"].map((path) =>
      pages.find(`https://server.example${path}`)
    ),
    [known, known, known, undefined],
  );
});

test("a body that is written again with the same values is no change", async () => {
  const rewrite = changeJson(TOKEN, () => {});
  const spaced = moduleSender(() =>
    Promise.resolve(new Response('{ "a" : 1 }', { headers: { "content-type": "application/json" } }))
  );
  const sender = faultSender(spaced, paths, rewrite);
  await exchange(sender, post(), LIMITS);
  assert.not(sender.hasChanged());
});

test("scopes and clients of the server take the place of Trivet's", () => {
  try {
    replaceRegistered({
      clients: { one: { id: "a" }, two: "b" },
      scope: "x y",
      scopes: { one: "x", beyond: "z" },
    });
    assert.equal([[...SCOPES], BEYOND, CLIENTS.map(({ id }) => id)], [["x", "y", "z"], "z", ["a"]]);
  } finally {
    replaceRegistered(
      JSON.parse(readFileSync(new URL("../../targets/trivet.json", import.meta.url), "utf8")).vars,
    );
  }
  assert.ok(SCOPES.has("profile"));
});

test("mutants are killed, survive, have no effect, are not asked, or prevent every vector", async () => {
  const dropHeader = (name: string): Wrap =>
    changeResponses(TOKEN, (answer) => withHeaders(answer, { [name]: undefined }));
  const killedBy = ["oauth/client_credentials/not-cached"];
  const mutants: Mutant[] = [
    { name: "oauth/one", fault: "", wrap: dropHeader("cache-control"), killedBy },
    { name: "oauth/two", fault: "", wrap: dropHeader("pragma"), killedBy },
    { name: "oauth/three", fault: "", wrap: dropHeader("x-no-such-field"), killedBy },
    {
      name: "oauth/four",
      fault: "",
      wrap: dropHeader("cache-control"),
      killedBy: ["oauth/password/offered"],
    },
    {
      name: "oauth/five",
      fault: "",
      wrap: onPath(AUTHORIZE, () => () => Promise.resolve(new Response("", { status: 400 }))),
      killedBy: ["oauth/code/twice"],
    },
  ];
  const module = fileURLToPath(new URL("../../targets/trivet.ts", import.meta.url));
  const outcomes: string[] = [];
  await runProxyMutants({ module }, mutants, () => {}, ({ mutant, outcome }) => {
    outcomes.push(`${mutant.name} ${outcome}`);
  });
  assert.equal(outcomes, [
    "oauth/one killed",
    "oauth/two survived",
    "oauth/three unchanged",
    "oauth/four not-asked",
    "oauth/five prevented",
  ]);
});

test("a mutant of the store or of stdio is none for a proxy", () => {
  const mutant: Mutant = { name: "oauth/x", fault: "", killedBy: [] };
  assert.not(isProxyMutant(mutant));
  assert.not(isProxyMutant({ ...mutant, wrap: (next) => next, store: (store) => store }));
  assert.ok(isProxyMutant({ ...mutant, wrap: (next) => next }));
});

test.run();
