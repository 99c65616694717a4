import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { newPerson } from "../oauth/test_person.ts";
import { newDataFolder, trivet } from "../test_process.ts";
import { newAdministration } from "./test_administration.ts";

/** Administration by command, while `trivet serve` runs on the same store. */
const test = suite("trivet user, session, grant and provider");
const administration = newAdministration(test);
const { data, run, fail, getToken } = administration;
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

async function logIn(username: string, password: string): Promise<{ status: number; cookie: string }> {
  const send = (headers: Record<string, string>) =>
    fetch(`${administration.server.facts.url}/login`, {
      method: "POST",
      body: new URLSearchParams({ username, password }),
      headers,
    });
  // Some runtimes refuse to send a control character, or to receive it.
  const first = await send({ "user-agent": "Test \u001b[31m agent" }).catch(() => undefined);
  const response = first === undefined || first.status === 400 ? await send({}) : first;
  await response.body?.cancel();
  return { status: response.status, cookie: response.headers.get("set-cookie")?.split(";")[0] ?? "" };
}
const isSignedIn = async (cookie: string) =>
  (await fetch(`${administration.server.facts.url}/device`, { headers: { cookie }, redirect: "manual" }))
    .status === 200;

test("a user is added, changed, locked, unlocked and removed, at once for the running server", async () => {
  const alice = await run("user add alice --password-stdin --email a@example.com", "down the rabbit hole\n");
  assert.equal(Object.keys(alice).includes("password"), false);
  assert.is((await logIn("alice", "down the rabbit hole")).status, 200);
  assert.is((await run("user update alice --role author --email b@example.com")).email, "b@example.com");
  const shown = await run(`user show ${alice.id}`);
  assert.equal([shown.username, shown.role, shown.sessions, shown.grants, "password" in shown], [
    "alice",
    "author",
    1,
    0,
    false,
  ]);
  const [, unset] = await fail("user reset-factors alice");
  assert.match(unset, "no second factor");
  assert.not.match(unset, "trivet user list");
  assert.is((await run("user data alice --issuer https://a.example")).issuer, "https://a.example");
  await run("user lock alice");
  assert.is((await logIn("alice", "down the rabbit hole")).status, 401);
  assert.match((await run("user show alice")).locked, TIME);
  assert.match((await trivet(["user", "list", ...data])).stdout, /alice .* locked /);
  await run("user unlock alice");
  assert.is((await logIn("alice", "down the rabbit hole")).status, 200);
  await run("user remove alice");
  assert.is((await logIn("alice", "down the rabbit hole")).status, 401);
  assert.match((await fail("user show alice"))[1], 'User not found: "alice"');
});

test("an error names the command that lists what can be named", async () => {
  assert.match((await fail("user lock unknown"))[1], '"trivet user list"');
  assert.match((await fail("grant list unknown"))[1], '"trivet user list"');
  assert.match((await fail("session remove unknown"))[1], '"trivet user list"');
  assert.match((await fail("grant remove demo nothing"))[1], '"trivet grant list demo"');
  assert.match((await fail("skill show nothing"))[1], '"trivet skill list"');
  for (const action of ["review", "approve", "reject"]) {
    assert.match((await fail(`tool ${action} nothing`))[1], '"trivet tool held"');
  }
});

test("an e-mail address is one to which mail can be sent", async () => {
  for (const command of ["user add mallory --generate --email nomail", "user update demo --email a@b@c"]) {
    const [code, message] = await fail(command);
    assert.is(code, 1);
    assert.match(message, "email");
  }
  assert.match((await fail("user show mallory"))[1], "User not found");
  await run("user update demo --email demo@example.com");
});

test("a password is set from standard input or generated; --sign-out ends the sessions", async () => {
  await run("user add bob --password-stdin", "first password of bob");
  const { cookie } = await logIn("bob", "first password of bob");
  const quiet = await run("user password bob --password-stdin", "second password of bob\n");
  assert.equal([quiet.secret, "password" in quiet], [null, false]);
  assert.equal([(await logIn("bob", "first password of bob")).status, await isSignedIn(cookie)], [401, true]);
  const { secret: password } = await run("user password bob --generate --sign-out");
  assert.is(password.length, 20);
  assert.is(await isSignedIn(cookie), false);
  assert.is((await logIn("bob", password)).status, 200);
  const [code, message] = await fail("user password bob");
  assert.is(code, 2);
  assert.match(message, "--password-stdin or --generate");
  assert.is((await fail("user password bob --password-stdin", ""))[0], 2);
  const short = await trivet(["user", "password", "bob", "--password-stdin", ...data], { input: "short" });
  assert.equal([short.code, /warning: .*12 characters/.test(short.stderr)], [0, true]);
});

test("sessions are listed without secrets, and end one by one or all", async () => {
  await run("user add carol --password-stdin", "password of carol");
  const cookies = [];
  for (let i = 0; i < 3; i++) cookies.push((await logIn("carol", "password of carol")).cookie);
  const { data: sessions } = await run("session list carol");
  assert.is(sessions.length, 3);
  assert.equal(Object.keys(sessions[0]).sort(), ["acr", "address", "agent", "amr", "created", "id", "used"]);
  const table = (await trivet(["session", "list", "carol", ...data])).stdout;
  assert.is(table.trim().split("\n").length, 4);
  assert.not.match(table, "\u001b");
  for (const cookie of cookies) assert.not.match(table, cookie.split("=")[1]!);
  await run(`session remove carol ${sessions[0].id}`);
  assert.is((await Promise.all(cookies.map(isSignedIn))).filter(Boolean).length, 2);
  assert.match((await fail(`session remove carol ${sessions[0].id}`))[1], "Session not found");
  await run("session remove carol");
  assert.is((await Promise.all(cookies.map(isSignedIn))).filter(Boolean).length, 0);
});

test("grants are listed and taken back", async () => {
  await run("user add dave --password-stdin", "password of dave");
  const redirect_uri = "http://127.0.0.1/callback";
  const { secret } = await run(`client add --id reader --name Reader --redirect-uri ${redirect_uri}`);
  const credentials = { client_id: "reader", client_secret: secret };
  const allow = async () => {
    const query = new URLSearchParams({
      response_type: "code",
      client_id: "reader",
      redirect_uri,
      scope: "read",
    });
    const answer = await newPerson("dave", "password of dave").allow(
      `${administration.server.facts.url}/oauth/authorize?${query}`,
    );
    return await getToken({
      grant_type: "authorization_code",
      code: answer.searchParams.get("code")!,
      redirect_uri,
      ...credentials,
    });
  };
  const isActive = async ({ access_token }: { access_token: string }) => {
    const headers = { authorization: `Bearer ${access_token}` };
    return (await fetch(`${administration.server.facts.url}/api/user`, { headers })).status !== 401;
  };
  const [first, second, third] = [await allow(), await allow(), await allow()];
  const { data: grants } = await run("grant list dave");
  assert.equal(
    grants.map(({ client, client_name, scope }: Record<string, string>) => [client, client_name, scope]),
    [
      ["reader", "Reader", "read"],
      ["reader", "Reader", "read"],
      ["reader", "Reader", "read"],
    ],
  );
  assert.match(
    (await trivet(["grant", "list", "dave", ...data])).stdout,
    /LAST USED\n.* reader +Reader +read /,
  );
  const id = first.refresh_token.slice("trivet_rt_".length).split(".")[0];
  assert.equal(await run(`grant remove dave ${id}`), { ended: 1 });
  assert.equal([await isActive(first), await isActive(second)], [false, true]);
  assert.match((await fail(`grant remove dave ${id}`))[1], "Grant not found");
  assert.is((await fail("grant remove dave"))[0], 2);
  assert.is((await fail(`grant remove dave ${id} --all`))[0], 2);
  assert.equal(await run("grant remove dave --client other"), { ended: 0 });
  assert.equal(await run("user revoke dave --client reader"), { ended: 2 });
  assert.equal([await isActive(second), await isActive(third)], [false, false]);
  await run("client remove reader");
});

test("providers are added, shown, changed, tested and removed, and their secrets never shown", async () => {
  let hasTokens = false;
  const idp = createServer((request, response) => {
    const issuer = `http://127.0.0.1:${(idp.address() as AddressInfo).port}`;
    response.setHeader("content-type", "application/json");
    if (request.url === "/token" && hasTokens) {
      response.statusCode = 400;
      return void response.end('{"error":"invalid_grant"}');
    }
    if (request.url !== "/.well-known/openid-configuration") response.statusCode = 404;
    response.end(JSON.stringify({
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/keys`,
      response_types_supported: ["code"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256"],
    }));
  });
  await new Promise<void>((resolve) => idp.listen(0, "127.0.0.1", resolve));
  try {
    const issuer = `http://127.0.0.1:${(idp.address() as AddressInfo).port}`;
    const added = await run(
      `provider add oidc --id work --issuer ${issuer} --client-id c1 --secret-stdin --role admin=Owners`,
      "provider secret\n",
    );
    assert.equal([added.id, added.roles.admin], ["work", ["Owners"]]);
    const login = async () => await (await fetch(`${administration.server.facts.url}/login`)).text();
    assert.match(await login(), "/login/work");
    assert.match((await fail("provider test work"))[1], "404");
    hasTokens = true;
    const tested = await run("provider test work");
    assert.equal([tested.authorization_endpoint, tested.client], [`${issuer}/authorize`, "accepted"]);
    assert.is((await run("provider update work --name Work --domain example.com")).name, "Work");
    const shown = await run("provider show work");
    assert.equal([shown.client_id, shown.domains, shown.has_secret], ["c1", ["example.com"], true]);
    assert.is("domains" in await run("provider update work --unset domain --client-id c2"), false);
    await run("provider update work --secret-stdin", "another secret");
    await run("provider update work --unset secret");
    assert.is((await run("provider show work")).has_secret, false);
    await run("provider update work --secret-stdin", "another secret");
    for (const command of ["list", "show work"]) {
      for (const json of [[], ["--json"]]) {
        const { stdout } = await trivet(["provider", ...command.split(" "), ...json, ...data]);
        assert.match(stdout, "work");
        assert.not.match(stdout, /sealedSecret|another secret|provider secret/);
      }
    }
    const [code, message] = await fail("provider update work --issuer nonsense");
    assert.equal([code, /issuer/.test(message)], [1, true]);
    assert.is((await run("provider show work")).issuer, issuer, "unchanged");
    assert.is((await fail("provider update work"))[0], 2);
    assert.is((await fail("provider add saml --client-id x"))[0], 2);
    assert.is((await fail("provider add oidc --issuer https://idp.example"))[0], 2);
    assert.match((await fail("provider update unknown --name x"))[1], "Provider not found");
    await run("provider remove work");
    assert.not.match(await login(), "/login/work");
    assert.match((await fail("provider test work"))[1], "Provider not found");
    assert.is((await fail("provider remove work"))[0], 1);
  } finally {
    idp.close();
  }
});

test("an empty store is listed as empty", async () => {
  const path = await newDataFolder(join(administration.folder, "fresh"));
  for (const command of ["user", "client", "provider"]) {
    const { stdout } = await trivet([command, "list", "--json", "--data", path]);
    assert.equal(JSON.parse(stdout), { data: [], has_more: false, next_page: null });
  }
});

test.run();
