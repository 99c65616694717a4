import { suite } from "uvu";
import * as assert from "uvu/assert";
import { trivet } from "../test_process.ts";
import { newAdministration } from "./test_administration.ts";

/** OAuth clients by command, while `trivet serve` runs on the same store. */
const test = suite("trivet client");
const { data, run, fail, getToken } = newAdministration(test);
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

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

test("each --scope counts, with one scope or several", async () => {
  const added = await run(
    "client add --id scopes --grant-type client_credentials --scope read --scope write",
  );
  assert.is(added.scope, "read write");
  const { stdout } = await trivet(
    [
      "client",
      "update",
      "scopes",
      "--scope",
      "skills:read read",
      "--scope",
      "skills:write",
      "--json",
      ...data,
    ],
  );
  assert.is(JSON.parse(stdout).scope, "skills:read read skills:write");
  const none = await trivet(["client", "update", "scopes", "--scope", "", "--json", ...data]);
  assert.is(JSON.parse(none.stdout).scope, "");
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

test.run();
