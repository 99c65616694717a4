/**
 * Procedures that walk pages or set cookies: sign-in and consent with hidden fields and redirects, and the
 * reasons when they fail.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { BASE, runOne, testTarget } from "../test_run.ts";
import type { Procedure } from "./target_description.ts";
import type { Target } from "./target.ts";

const test = suite("walk");
const CLIENT = "https://app.example/cb";

const page = (html: string, status = 200, headers: Record<string, string> = {}) =>
  new Response(html, { status, headers: { "content-type": "text/html", ...headers } });
const go = (location: string, headers: Record<string, string> = {}) =>
  new Response(null, { status: 303, headers: { location, ...headers } });

/** A server with a login page and a consent page, each with a hidden ticket. */
async function server(request: Request): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  const isSignedIn = request.headers.get("cookie") === "sid=s-1";
  const form = request.method === "POST" ? new URLSearchParams(await request.text()) : undefined;
  if (pathname === "/") {
    return isSignedIn ? page("<form action=/logout><button>Sign out</button></form>") : page("");
  }
  if (pathname === "/login") {
    if (!form) {
      return page(
        "<p>Welcome<form action=/search><input name=q></form><form method=post><input type=hidden name=ticket value=t-1>" +
          "<input name=user><input name=pw type=password><button>Sign in</button></form>",
      );
    }
    const isRight = form.get("ticket") === "t-1" && form.get("user") === "alice" &&
      form.get("pw") === "wonderland";
    return isRight
      ? go("/", { "set-cookie": "sid=s-1" })
      : page("<form method=post><p>Wrong<input name=user><input name=pw></form>", 401);
  }
  if (pathname !== "/authorize") return page("no", 404);
  if (!isSignedIn) return go("/login?next=1");
  if (searchParams.get("scope") === "none") return page("<p>No such scope", 400);
  if (!form) {
    return page(
      `<form method=post action="/authorize?${searchParams}"><input type=hidden name=ticket value=t-2>` +
        "<button name=decision value=no>Refuse</button><button name=decision value=yes>Allow</button></form>",
    );
  }
  if (form.get("ticket") !== "t-2") return page("forged", 403);
  return go(form.get("decision") === "yes" ? `${CLIENT}?code=c-1&state=s` : `${CLIENT}?error=access_denied`);
}

const LOGIN: Procedure = { page: "/login", fields: { user: "{{user.name}}", pw: "{{user.password}}" } };
const AUTHORIZE: Procedure = { page: "/authorize", query: "{{query}}" as never, press: "allow" };
const DENY: Procedure = { page: "/authorize", query: "{{query}}" as never, press: ["decision=no"] };

const alice = { user: { value: { name: "alice", password: "wonderland" } } };
const asked = (more: object = {}) => ({ query: { value: { redirect_uri: CLIENT, state: "s", ...more } } });

function target(offers: Readonly<Record<string, Procedure>>): Target {
  return testTarget(server, { withProcedures: offers, limits: { seconds: 10, bytes: 100_000 } });
}

const offers = { login: LOGIN, authorize: AUTHORIZE, deny: DENY };

test("fields are filled in, hidden fields sent, redirects followed, a button pressed", async () => {
  const { outcome, reason } = await runOne(target(offers), [
    { call: "login", with: alice },
    {
      call: "authorize",
      with: asked(),
      expect: { redirect: { to: CLIENT, query: { code: "c-1", state: "s" } } },
    },
    { let: { got: "{{code}}" }, request: { url: "/{{code}}" }, expect: { status: 404 } },
    { call: "deny", with: asked(), expect: { redirect: { query: { error: "access_denied" } } } },
  ]);
  assert.equal([outcome, reason], ["pass", undefined]);
});

test("cookies of a signed-in browser work too, as an object or as a copied header", async () => {
  for (const cookies of [{ sid: "{{user.cookie}}" }, "Cookie: other=1; sid={{user.cookie}}"]) {
    const { exchanges } = await runOne(target({ ...offers, login: { cookies } }), [
      { call: "login", with: { user: { value: { cookie: "s-1" } } } },
      { call: "authorize", with: asked() },
    ]);
    assert.match(exchanges[0]!.request, /cookie: (other=1; )?sid=s-1/);
  }
});

test("a form without an action is sent to the full URL of its page", async () => {
  const form = page("<form method=post><button>Allow</button></form>");
  const answer = ({ method, url }: Request) =>
    method === "POST" ? go(`${CLIENT}?code=${new URL(url).searchParams.get("state")}`) : form.clone();
  const { outcome, reason } = await runOne(testTarget(answer, { withProcedures: { authorize: AUTHORIZE } }), [
    { call: "authorize", with: asked(), expect: { redirect: { query: { code: "s" } } } },
  ]);
  assert.equal([outcome, reason], ["pass", undefined]);
});

const WRONG: readonly (readonly [string, Readonly<Record<string, Procedure>>, RegExp])[] = [
  [
    "an unknown variable",
    { ...offers, login: { page: "/login", fields: { user: "{{user.nam}}" } } },
    /"login".*"\{\{user\.nam\}\}"/,
  ],
  [
    "a wrong password",
    { ...offers, login: { page: "/login", fields: { user: "alice", pw: "wrong" } } },
    /"login".* \/login .*"Wrong"/,
  ],
  [
    "fields of another name",
    { ...offers, login: { page: "/login", fields: { username: "alice" } } },
    /\/login .*"q".*"ticket", "user", "pw".*"Sign in"/,
  ],
  [
    "a missing page",
    { ...offers, login: { page: "/signin" } },
    /\/signin .*404.*"no"/,
  ],
  [
    "a button of another name",
    { ...offers, authorize: { page: "/authorize", query: "{{query}}" as never, press: "OK" } },
    /"authorize" .*"Refuse", "Allow"/,
  ],
  [
    "no user signed in",
    { ...offers, login: { cookies: {} } },
    /"authorize" .*"ticket", "user", "pw"/,
  ],
];

for (const [name, procedures, message] of WRONG) {
  test(`${name} is setup, with the contents of the page`, async () => {
    const { outcome, reason } = await runOne(target(procedures), [
      { call: "login", with: alice },
      { call: "authorize", with: asked(), expect: { redirect: { to: CLIENT } } },
    ]);
    assert.is(outcome, "setup");
    assert.match(reason!, message);
  });
}

test("the result of an earlier call does not count for a later one", async () => {
  const { outcome, reason } = await runOne(target(offers), [
    { call: "login", with: alice },
    { call: "authorize", with: asked() },
    { call: "authorize", with: asked({ scope: "none" }), expect: { redirect: { to: CLIENT } } },
  ]);
  // The server refused, which is a result.
  assert.is(outcome, "fail");
  assert.match(reason!, /"authorize" .*400.*"No such scope"/);
});

test("a redirect loop ends", async () => {
  const round = testTarget(() => go(`${BASE}/again`), { withProcedures: { login: { page: "/login" } } });
  const { outcome, reason } = await runOne(round, [{ call: "login" }]);
  assert.is(outcome, "setup");
  assert.match(reason!, / 16 .*\/again/);
});

test.run();
