import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { newPerson } from "../oauth/test_person.ts";
import { newDataFolder, type RunningTrivet, startTrivet, temporaryFolder, trivet } from "../test_process.ts";

/** Administration by command, while `trivet serve` runs on the same store. */
const test = suite("trivet user, client and provider");
const folder = temporaryFolder();
const data = ["--data", join(folder.path, "data")];
let server: RunningTrivet;
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

test.before(async () => {
  server = await startTrivet([...data, "--openid"]);
});
test.after(async () => {
  await server?.stop();
  folder.remove();
});

/** Runs a command that must succeed; what it prints, as JSON. */
// deno-lint-ignore no-explicit-any
async function run(command: string, input = ""): Promise<any> {
  const { code, stdout, stderr } = await trivet([...command.split(" "), "--json", ...data], { input });
  assert.is(code, 0, `trivet ${command}: ${stderr}`);
  return stdout === "" ? undefined : JSON.parse(stdout);
}
/** Runs a command that must fail; exit code and message. */
async function fail(command: string, input = ""): Promise<[number | null, string]> {
  const { code, stdout, stderr } = await trivet([...command.split(" "), ...data], { input });
  assert.is(stdout, "");
  return [code, stderr];
}
async function logIn(username: string, password: string): Promise<{ status: number; cookie: string }> {
  const send = (headers: Record<string, string>) =>
    fetch(`${server.facts.url}/login`, {
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
  (await fetch(`${server.facts.url}/device`, { headers: { cookie }, redirect: "manual" })).status === 200;
const getToken = async (form: Record<string, string>) =>
  await (await fetch(`${server.facts.url}/oauth/token`, { method: "POST", body: new URLSearchParams(form) }))
    .json();

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

test("values of client options that could not count are refused, with what can", async () => {
  for (const option of ["--introspects", "--exchange-resource"]) {
    const [code, message] = await fail(`client add --id r ${option} foo`);
    assert.is(code, 2);
    assert.match(message, `${option} must be an absolute URI`);
  }
  const [code, message] = await fail("client rotate-secret demo --keep-old 400d");
  assert.is(code, 2);
  assert.match(message, "30d");
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
      `${server.facts.url}/oauth/authorize?${query}`,
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
    return (await fetch(`${server.facts.url}/api/user`, { headers })).status !== 401;
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

test("a client's secret is rotated, with a time in which the old one is valid", async () => {
  const { secret } = await run("client add --id worker --grant-type client_credentials --scope skills:read");
  const accepts = async (client_secret: string) =>
    "access_token" in
      await getToken({ grant_type: "client_credentials", client_id: "worker", client_secret });
  const next = await run("client rotate-secret worker --keep-old 1h");
  assert.ok(Date.parse(next.old_secret_until) > Date.now() + 3_500_000);
  assert.equal([await accepts(secret), await accepts(next.secret)], [true, true]);
  const own = await run("client rotate-secret worker --secret-stdin", "a secret that the operator chose\n");
  assert.equal(own, { id: "worker", secret: null, old_secret_until: null });
  assert.equal(
    [await accepts(secret), await accepts(next.secret), await accepts("a secret that the operator chose")],
    [false, false, true],
  );
  assert.not.match(JSON.stringify(await run("client show worker")), /digest|operator chose/);
  assert.is((await fail("client rotate-secret worker --keep-old 1y"))[0], 2);
  assert.match((await fail("client rotate-secret unknown"))[1], 'Client not found: "unknown"');
});

test("every kind of metadata is set, shown, changed and removed", async () => {
  const all = [
    ["name", "Name"],
    ["redirect-uri", "https://app.example/cb"],
    ["grant-type", "authorization_code"],
    ["scope", "read"],
    ["auth-method", "client_secret_post"],
    ["token-format", "jwt"],
    ["require-par"],
    ["require-dpop"],
    ["bind-certificate"],
    ["details-type", "payment"],
    ["introspection-alg", "ES256"],
    ["assertion-alg", "PS256"],
    ["request-object-alg", "RS256"],
    ["request-uri", "https://app.example/request"],
    ["response-alg", "ES256"],
    ["trusted"],
    ["introspects", "https://api.example/"],
    ["exchange-resource", "https://api.example/"],
    ["subject-type", "pairwise"],
    ["sector-identifier-uri", "https://app.example/sector"],
    ["id-token-alg", "ES256"],
    ["userinfo-alg", "ES256"],
    ["default-max-age", "600"],
    ["require-auth-time"],
    ["default-acr", "password"],
    ["initiate-login-uri", "https://app.example/login"],
    ["post-logout-redirect-uri", "https://app.example/out"],
    ["backchannel-logout-uri", "https://app.example/logout"],
    ["backchannel-logout-session-required"],
  ] as const;
  const words = all.map(([name, value]) => `--${name}${value === undefined ? "" : ` ${value}`}`);
  await run(`client add --id full ${words.join(" ")}`);
  const { id, source, created, has_secret, public: _, weak_secret, old_secret_until, ...members } = await run(
    "client show full",
  );
  assert.match(created, TIME);
  assert.equal([id, source, has_secret, weak_secret, old_secret_until], [
    "full",
    "operator",
    true,
    false,
    null,
  ]);
  assert.equal(members, {
    name: "Name",
    redirect_uris: ["https://app.example/cb"],
    grant_types: ["authorization_code"],
    scope: "read",
    token_endpoint_auth_method: "client_secret_post",
    access_token_format: "jwt",
    require_pushed_authorization_requests: true,
    dpop_bound_access_tokens: true,
    tls_client_certificate_bound_access_tokens: true,
    authorization_details_types: ["payment"],
    introspection_signed_response_alg: "ES256",
    token_endpoint_auth_signing_alg: "PS256",
    request_object_signing_alg: "RS256",
    request_uris: ["https://app.example/request"],
    authorization_signed_response_alg: "ES256",
    trusted: true,
    introspects: ["https://api.example/"],
    token_exchange_resources: ["https://api.example/"],
    subject_type: "pairwise",
    sector_identifier_uri: "https://app.example/sector",
    id_token_signed_response_alg: "ES256",
    userinfo_signed_response_alg: "ES256",
    default_max_age: 600,
    require_auth_time: true,
    default_acr_values: ["password"],
    initiate_login_uri: "https://app.example/login",
    post_logout_redirect_uris: ["https://app.example/out"],
    backchannel_logout_uri: "https://app.example/logout",
    backchannel_logout_session_required: true,
  });
  const table = (await trivet(["client", "show", "full", ...data])).stdout;
  for (const name of Object.keys(members)) assert.match(table, new RegExp(`^${name} `, "m"));
  const changed = await run("client update full --name Other --redirect-uri https://app.example/a");
  assert.equal([changed.name, changed.redirect_uris, changed.scope], [
    "Other",
    ["https://app.example/a"],
    "read",
  ]);
  const kept = ["name", "redirect-uri", "grant-type", "auth-method"];
  const unset = all.filter(([name]) => !kept.includes(name)).map(([name]) => `--unset ${name}`);
  const bare = await run(`client update full ${unset.join(" ")}`);
  assert.equal(Object.keys(bare).sort(), [
    "created",
    "grant_types",
    "has_secret",
    "id",
    "name",
    "old_secret_until",
    "public",
    "redirect_uris",
    "source",
    "token_endpoint_auth_method",
    "weak_secret",
  ]);
  assert.is((await fail("client update full"))[0], 2);
  assert.is((await fail("client update full --unset id"))[0], 2);
  assert.match(
    (await fail("client update full --redirect-uri http://public.example/"))[1],
    "http://public.example/",
  );
  assert.match((await fail("client update unknown --name x"))[1], "Client not found");
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
    const login = async () => await (await fetch(`${server.facts.url}/login`)).text();
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
  const path = await newDataFolder(join(folder.path, "fresh"));
  for (const command of ["user", "client", "provider"]) {
    const { stdout } = await trivet([command, "list", "--json", "--data", path]);
    assert.equal(JSON.parse(stdout), { data: [], has_more: false, next_page: null });
  }
});

test.run();
