/**
 * `trivet provider` as a process, beside a running server, with another Trivet as the identity provider.
 *
 * @module
 */
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { addUser } from "../../mod.ts";
import { sqliteStore } from "../../store/drivers/sqlite.ts";
import { browse } from "../oauth/test_browser.ts";
import { type Running, start } from "../oauth/test_sign_in.ts";
import { startTrivet, temporaryFolder, trivet } from "../test_process.ts";

const test = suite("trivet provider");
const SECRET = "a secret of 32 characters, with +";
const LOGIN = { username: "alice", password: "wonderland" };
/** The port of a redirect URI on loopback does not count (RFC 8252 §7.3). */
const REDIRECT = "http://127.0.0.1/login/work/callback";

/** An identity provider with one client and the user alice. */
async function newUpstream(): Promise<Running> {
  const upstream = await start("localhost", () => ({
    openid: true,
    passwordIterations: 1000,
    clients: [{ id: "other", secret: SECRET, redirect_uris: [REDIRECT] }],
  }));
  await addUser(upstream.store, { ...LOGIN, name: "Alice" }, 1000);
  return upstream;
}

/** The arguments of `provider add` for it. */
function addition({ issuer }: Running, ...more: readonly string[]): string[] {
  const own = [
    "--id",
    "work",
    "--name",
    "Work",
    "--issuer",
    issuer,
    "--client-id",
    "other",
    "--secret-stdin",
  ];
  return ["provider", "add", "oidc", ...own, ...more];
}

test("add, list, test and remove, while a server runs: users sign in at the provider in between", async () => {
  const folder = temporaryFolder();
  const data = ["--data", folder.path];
  const upstream = await newUpstream();
  const running = await startTrivet(data);
  try {
    const { issuer, url, client } = running.facts;
    const login = async () =>
      await (await fetch(`${url}/login`, { headers: { accept: "text/html" } })).text();
    assert.is((await login()).includes("Work"), false);

    const added = await trivet([...addition(upstream, "--keep-tokens"), ...data, "--json"], {
      input: SECRET,
    });
    assert.equal([added.code, added.stderr], [0, ""]);
    const { added: _, ...shown } = JSON.parse(added.stdout);
    const facts = { kind: "oidc", id: "work", name: "Work", client_id: "other", issuer: upstream.issuer };
    const rest = { has_secret: true, redirect_uri: "ISSUER/login/work/callback" };
    assert.equal(shown, { ...facts, keep_tokens: true, ...rest });
    assert.match(await login(), "Work");

    const listed = await trivet(["provider", "list", ...data]);
    assert.match(listed.stdout, /work +oidc +Work +other +all its users/);
    const tested = await trivet(["provider", "test", "work", ...data]);
    assert.equal([tested.code, tested.stderr], [0, ""]);
    assert.match(tested.stdout, `${upstream.issuer}/oauth/authorize`);
    assert.match(tested.stdout, "accepts the client id and secret");

    const query = new URLSearchParams({
      response_type: "code",
      client_id: client.id,
      redirect_uri: client.redirect_uri,
      scope: "profile",
      code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
      code_challenge_method: "S256",
    });
    const start = new URL(`${issuer}/oauth/authorize?${query}`);
    const end = await browse(start, LOGIN, undefined, new URL(client.redirect_uri).origin);
    assert.ok(end.searchParams.get("code"), end.href);
    const users = await trivet(["user", "list", ...data]);
    assert.match(users.stdout, /^- +Alice/m);

    const removed = await trivet(["provider", "remove", "work", ...data]);
    assert.equal([removed.code, removed.stdout], [0, "Removed work\n"]);
    // The refresh token: with it the whole grant ends there.
    assert.is(upstream.events.filter(({ type }) => type === "token_revoked").length, 1);
    assert.is((await login()).includes("Work"), false);
    const again = await trivet(["provider", "remove", "work", ...data]);
    assert.is(again.code, 1);
    assert.match(again.stderr, 'Provider not found: "work"');
  } finally {
    await running.stop();
    await upstream.server.close();
    folder.remove();
  }
});

/** A folder with the empty store of a server that was started once. */
async function newStore(): Promise<{ path: string; data: string[]; remove(): void }> {
  const folder = temporaryFolder();
  const data = ["--data", folder.path];
  await (await startTrivet(data)).stop();
  return { path: folder.path, data, remove: () => folder.remove() };
}

test("test names a wrong secret, and a provider that does not answer", async () => {
  const folder = await newStore();
  const { data } = folder;
  const upstream = await newUpstream();
  try {
    await trivet([...addition(upstream), ...data], { input: "another secret of 32 characters, wrong" });
    const wrong = await trivet(["provider", "test", "work", ...data]);
    assert.is(wrong.code, 1);
    assert.match(wrong.stderr, "invalid_client");
    assert.is(wrong.stderr.includes("another secret"), false);
  } finally {
    await upstream.server.close();
  }
  const gone = await trivet(["provider", "test", "work", ...data]);
  assert.is(gone.code, 1);
  assert.match(gone.stderr, "could not be fetched");
  folder.remove();
});

test("groups decide on roles and scopes, and options that are wrong are named", async () => {
  const folder = await newStore();
  const { data } = folder;
  const add = [
    "provider",
    "add",
    "oidc",
    "--issuer",
    "https://login.example.com",
    "--client-id",
    "app",
    ...data,
  ];
  const rules = ["--role", "admin=Owners", "--scope-group", "write=Ops", "--scope-group", "write=Staff=A"];
  const claim = ["--groups-claim", "realm_access.roles"];
  const { stdout } = await trivet([...add, ...rules, ...claim, "--json"]);
  const { roles, scopes, groups_claim } = JSON.parse(stdout);
  assert.equal(roles.admin, ["Owners"]);
  assert.equal([scopes, groups_claim], [{ write: ["Ops", "Staff=A"] }, "realm_access.roles"]);
  const shown = await trivet(["provider", "show", "oidc", ...data]);
  assert.match(shown.stdout, /admin +Owners/);
  assert.match(shown.stdout, /write +Ops Staff=A/);
  const misspelt = await trivet(["provider", "update", "oidc", "--scope-group", "skills:wrte=Ops", ...data]);
  assert.match(misspelt.stderr, 'warning: "skills:wrte" is no scope of the server');
  await trivet(["provider", "update", "oidc", "--unset", "scope-group", "--keep-tokens", ...data]);
  const updated = JSON.parse((await trivet(["provider", "show", "oidc", "--json", ...data])).stdout);
  assert.equal([updated.scopes, updated.keep_tokens], [undefined, true]);
  const rows: readonly [args: readonly string[], message: string, code: number][] = [
    [["provider", "add", "ldap", ...data], "KIND must be one of oidc, google, entra, github, apple", 2],
    [["provider", "add", "oidc", ...data], "--client-id", 2],
    [[...add, "--scope-group", "write"], "SCOPE=GROUP", 2],
    [[...add, "--role", "owner=A"], "ROLE=GROUP", 2],
    [[...add, "--secret-stdin"], "no secret", 2],
    [["provider", "add", "oidc", "--client-id", "app", ...data], "issuer", 1],
    [["provider", "add", "apple", "--client-id", "app", ...data], "teamId", 1],
    [
      ["provider", "add", "oidc", "--tenant", "x", ...data],
      "--tenant does nothing for a provider of the kind oidc",
      2,
    ],
    [["provider", "add", "google", "--group", "x", ...data], "--group does nothing", 2],
    [["provider", "add", "github", "--groups-claim", "x", ...data], "--groups-claim does nothing", 2],
    [[...add, "--group", ""], "--group must not be empty", 2],
    [["provider", "update", "oidc", "--tenant", "x", ...data], "tenant does nothing", 1],
    [["provider", "test", "unknown", ...data], 'Provider not found: "unknown"', 1],
    [["provider", "test", ...data], "missing argument: ID", 2],
    [["provider", "display", ...data], "display", 2],
    [["provider", "update", "oidc", "--unset", "group", "--group", "Ops", ...data], "exclude each other", 2],
  ];
  for (const [args, message, code] of rows) {
    const outcome = await trivet(args);
    assert.is(outcome.code, code, args.join(" ") + outcome.stderr);
    assert.match(outcome.stderr, message);
  }
  folder.remove();
});

test("list says that a provider with an empty list, which an earlier version accepted, admits no one", async () => {
  const folder = await newStore();
  const { data } = folder;
  const store = sqliteStore(join(folder.path, "trivet.db"));
  for (const [id, old] of Object.entries({ none: { domains: [] }, few: { groups: ["Ops"] }, any: {} })) {
    const settings = ["--id", id, "--issuer", "https://login.example.com", "--client-id", "app"];
    assert.is((await trivet(["provider", "add", "oidc", ...settings, ...data])).code, 0);
    const { key, value } = (await store.get<object>(["provider", id]))!;
    await store.commit({ set: [{ key, value: { ...value, ...old } }] });
  }
  await store.close();
  const { stdout } = await trivet(["provider", "list", ...data]);
  assert.match(stdout, /^none .* no one$/m);
  assert.match(stdout, /^few .* Ops$/m);
  assert.match(stdout, /^any .* all its users$/m);
  folder.remove();
});

test("a secret is not in the files of the store", async () => {
  const folder = await newStore();
  const add = ["provider", "add", "github", "--client-id", "app", "--secret-stdin", ...folder.data];
  assert.is((await trivet(add, { input: "a-very-visible-secret\n" })).code, 0);
  const { readdirSync, readFileSync } = await import("node:fs");
  const { join } = await import("node:path");
  for (const name of readdirSync(folder.path, { recursive: true, withFileTypes: true })) {
    if (!name.isFile()) continue;
    const text = readFileSync(join(name.parentPath, name.name), "latin1");
    assert.is(text.includes("a-very-visible-secret"), false, name.name);
  }
  folder.remove();
});

test.run();
