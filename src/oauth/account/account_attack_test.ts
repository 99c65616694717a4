import { suite } from "uvu";
import * as assert from "uvu/assert";
import { oidc } from "../sign_in/oidc.ts";
import { listLinkedUsers } from "../sign_in/linked_account.ts";
import { listUserIdentities } from "../sign_in/user_identity.ts";
import { CLIENT, newProvider, PROVIDER, type TestProvider } from "../sign_in/test_provider.ts";
import { newServer, type TestServer } from "../test_server.ts";
import { addUser } from "../users/user.ts";
import { listUserSessions } from "../users/user_sessions.ts";
import { ACCOUNT_PATHS } from "./routes.ts";

const test = suite("oauth/account, attacks");
/** The paths that a form is sent to. */
const FORMS = ACCOUNT_PATHS.filter((path) => !["/account", "/account/data"].includes(path));

/** A browser: it keeps cookies and sends the fields of a navigation. */
function newUser(server: TestServer) {
  const cookies = new Map<string, string>();
  async function send(path: string, form?: Record<string, string>, site = "same-origin"): Promise<Response> {
    const { pathname, search } = new URL(path, "https://as.example");
    const cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
    const headers = { "sec-fetch-site": site, accept: "text/html", ...(cookie && { cookie }) };
    const response = await server.send(pathname + search, { headers, ...(form && { form }) });
    for (const field of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(field)!;
      if (/Max-Age=0(;|$)/.test(field)) cookies.delete(name!);
      else cookies.set(name!, value!);
    }
    return response;
  }
  return {
    cookies,
    send,
    signIn: (username: string, password: string) => send("/login", { username, password }),
  };
}

async function newAccounts() {
  const provider = await newProvider();
  const server = await newServer({
    signIn: [oidc({ issuer: PROVIDER, ...CLIENT })],
    signInFetch: (url, init) => provider.fetch(url, init),
  });
  const mallory = await addUser(server.store, { username: "mallory", password: "mallory" }, 1000);
  const [alice] = (await server.store.list<{ id: string; username: string }>(["user"]))
    .map(({ value }) => value).filter(({ username }) => username === "alice");
  const victim = newUser(server);
  await victim.signIn("alice", "wonderland");
  const attacker = newUser(server);
  await attacker.signIn("mallory", "mallory");
  return { provider, server, victim, attacker, alice: alice!.id, mallory: mallory.id };
}

/** Begins to link, and goes to the provider: the URL of the callback. */
async function beginLink(user: ReturnType<typeof newUser>, provider: TestProvider): Promise<string> {
  const begun = await user.send("/account/providers", { link: "oidc" });
  assert.is(begun.status, 303);
  return provider.authorize(begun.headers.get("location")!).href;
}

test("a form of another site changes nothing", async () => {
  const { server, victim } = await newAccounts();
  const before = JSON.stringify(await server.store.list(["user"]));
  for (const path of FORMS) {
    for (const site of ["cross-site", "same-site"]) {
      const form = {
        name: "Evil",
        email: "evil@example.com",
        password: "wonderland",
        new_password: "evil password",
        new_password_again: "evil password",
        end: "others",
        client_id: "app",
        link: "oidc",
        confirmation: "alice",
      };
      const response = await victim.send(path, form, site);
      assert.is(response.status, 403, `${path} ${site}`);
    }
  }
  assert.is(JSON.stringify(await server.store.list(["user"])), before);
  assert.is((await victim.send("/account")).status, 200);
});

test("sessions and applications of another user are as if they did not exist", async () => {
  const { server, victim, attacker, alice } = await newAccounts();
  await server.tokens();
  const [session] = await listUserSessions(server.store, alice);
  const answers: string[] = [];
  for (const id of [session!.id, session!.digest, "unknown", ""]) {
    const response = await attacker.send("/account/sessions", { session: id });
    answers.push(`${response.status} ${await response.text()}`);
  }
  for (const client_id of ["app", "unknown", ""]) {
    const response = await attacker.send("/account/applications", { client_id });
    answers.push(`${response.status} ${await response.text()}`);
  }
  assert.match(answers[0]!, /^404 /);
  assert.is(new Set(answers).size, 1);
  assert.is((await victim.send("/account")).status, 200);
  assert.match(await (await victim.send("/account/applications")).text(), "The App");
});

test("the callback of the attacker's link in the victim's browser links nothing", async () => {
  const { provider, server, victim, attacker, alice, mallory } = await newAccounts();
  const callback = await beginLink(attacker, provider);
  assert.is((await victim.send(callback, undefined, "cross-site")).status, 400);
  // Also when the attacker could set the cookie of the link in the victim's browser.
  for (const [name, value] of attacker.cookies) {
    if (name.includes("sign_in_")) victim.cookies.set(name, value);
  }
  assert.is((await victim.send(callback, undefined, "cross-site")).status, 400);
  for (const id of [alice, mallory]) assert.equal(await listUserIdentities(server.store, id), []);
  assert.equal(await Array.fromAsync(listLinkedUsers(server.store)), []);
});

test("a link is begun by a form of this site only, and not by a URL", async () => {
  const { provider, server, victim, alice } = await newAccounts();
  assert.is((await victim.send("/account/providers", { link: "oidc" }, "cross-site")).status, 403);
  for (const path of ["/account/providers?link=oidc", "/login/oidc?link=1&redirect=%2Faccount%2Fproviders"]) {
    const response = await victim.send(path, undefined, "cross-site");
    const location = response.headers.get("location");
    if (location?.startsWith(PROVIDER)) {
      await victim.send(provider.authorize(location).href, undefined, "cross-site");
    }
  }
  assert.equal(await listUserIdentities(server.store, alice), []);
});

test("a link ends with the session that began it", async () => {
  const { provider, server, victim, alice } = await newAccounts();
  const callback = await beginLink(victim, provider);
  await victim.send("/logout", {});
  assert.is((await victim.send(callback, undefined, "cross-site")).status, 400);
  await victim.signIn("alice", "wonderland");
  assert.is((await victim.send(callback, undefined, "cross-site")).status, 400);
  assert.equal(await listUserIdentities(server.store, alice), []);
});

test("a user links an account at a provider, signs in with it, and unlinks it", async () => {
  const { provider, server, victim, alice } = await newAccounts();
  const linked = await victim.send(await beginLink(victim, provider), undefined, "cross-site");
  assert.is(linked.status, 303);
  const page = await (await victim.send(linked.headers.get("location")!, undefined, "cross-site")).text();
  assert.match(page, "jane@example.com");
  assert.match(page, 'role="status"');
  assert.equal(
    server.events.filter(({ type }) => type === "identity_linked"),
    [{ type: "identity_linked", user: alice, provider: "oidc", ip: undefined }],
  );
  const other = newUser(server);
  const begun = await other.send("/login/oidc", undefined, "none");
  const done = await other.send(
    provider.authorize(begun.headers.get("location")!).href,
    undefined,
    "cross-site",
  );
  assert.is(done.headers.get("location"), "/account");
  assert.match(await (await other.send("/account")).text(), "Alice Liddell");
  const form = { issuer: PROVIDER, subject: "248289" };
  const unlinked = await victim.send("/account/providers", form);
  assert.is(unlinked.status, 303);
  assert.equal(await listUserIdentities(server.store, alice), []);
  assert.is((await victim.send("/account/providers", form)).status, 404);
});

test("an account at a provider that another user has is not linked", async () => {
  const { provider, server, victim, attacker, alice } = await newAccounts();
  await victim.send(await beginLink(victim, provider), undefined, "cross-site");
  const refused = await attacker.send(await beginLink(attacker, provider), undefined, "cross-site");
  assert.match(refused.headers.get("location")!, /^\/account\/providers\?done=other_user\./);
  assert.match(
    await (await attacker.send(refused.headers.get("location")!, undefined, "cross-site")).text(),
    'role="alert"',
  );
  assert.is((await listUserIdentities(server.store, alice)).length, 1);
  // Neither can the attacker unlink it.
  const form = { issuer: PROVIDER, subject: "248289" };
  assert.is((await attacker.send("/account/providers", form)).status, 404);
  assert.is((await listUserIdentities(server.store, alice)).length, 1);
});

test("a user who signs in at a provider keeps the last way to sign in, and may be deleted", async () => {
  const { provider, server } = await newAccounts();
  // A browser shows one space.
  provider.claims["name"] = "Jane  Doe";
  const user = newUser(server);
  const begun = await user.send("/login/oidc?redirect=%2Faccount&reauthenticate=1", undefined, "none");
  await user.send(provider.authorize(begun.headers.get("location")!).href, undefined, "cross-site");
  const page = await (await user.send("/account/providers")).text();
  assert.not.match(page, 'name="subject"');
  const last = await user.send("/account/providers", { issuer: PROVIDER, subject: "248289" });
  assert.is(last.status, 400);
  const profile = await (await user.send("/account/profile")).text();
  assert.not.match(profile, "<form");
  assert.match(profile, "jane@example.com");
  assert.is((await user.send("/account/password")).status, 404);
  assert.is((await user.send("/account/delete", { confirmation: "Jane Doe" })).status, 200);
  assert.equal(await Array.fromAsync(listLinkedUsers(server.store)), []);
  assert.is((await user.send("/account")).status, 302);
});

test("after a change of the password a copied session cookie is refused", async () => {
  const { victim, attacker } = await newAccounts();
  attacker.cookies.clear();
  for (const [name, value] of victim.cookies) attacker.cookies.set(name, value);
  assert.is((await attacker.send("/account")).status, 200);
  const form = {
    password: "wonderland",
    new_password: "down the hole 7",
    new_password_again: "down the hole 7",
  };
  assert.is((await victim.send("/account/password", form)).status, 303);
  assert.is((await victim.send("/account")).status, 200);
  assert.is((await attacker.send("/account")).status, 302);
});

test("an old session changes no password, address, provider or account", async () => {
  const { server, victim, alice } = await newAccounts();
  server.advance(601);
  const before = JSON.stringify(await server.store.get(["user", alice]));
  const forms = {
    "/account/password": {
      password: "wonderland",
      new_password: "x".repeat(12),
      new_password_again: "x".repeat(12),
    },
    "/account/email": { email: "evil@example.com" },
    "/account/providers": { link: "oidc" },
    "/account/delete": { confirmation: "alice" },
  };
  for (const [path, form] of Object.entries(forms)) {
    const response = await victim.send(path, form);
    assert.match(response.headers.get("location")!, /^\/login\?.*&reauthenticate=1$/, path);
  }
  assert.is(JSON.stringify(await server.store.get(["user", alice])), before);
});

test("hostile forms get a specified status and no fault", async () => {
  const { server, victim } = await newAccounts();
  const cookie = [...victim.cookies].map((pair) => pair.join("=")).join("; ");
  const bodies = [
    "",
    "name=a&name=b",
    "session=" + "x".repeat(15_000),
    "x=" + "y".repeat(20_000),
    "%ff=%00&end=%00",
    "session=__proto__&client_id=constructor&link=../../evil&issuer=%0d%0a&subject=%00",
    "{}",
  ];
  for (const path of FORMS) {
    for (const form of bodies) {
      const response = await server.send(path, { form, headers: { cookie, accept: "text/html" } });
      assert.ok(
        [200, 303, 400, 404, 413].includes(response.status),
        `${path} ${form.slice(0, 30)}: ${response.status}`,
      );
      await response.text();
    }
    const json = await server.send(path, {
      form: "{}",
      headers: { cookie, "content-type": "application/json" },
    });
    assert.is(json.status, 415, path);
    for (const method of ["PUT", "DELETE"]) {
      assert.is((await server.send(path, { method, headers: { cookie } })).status, 405, path);
    }
  }
  assert.equal(server.events.filter(({ type }) => type === "fault"), []);
});

test.run();
