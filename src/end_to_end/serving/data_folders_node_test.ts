import { spawn } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { sqliteStore } from "../../store/drivers/sqlite.ts";
import { CURRENT_FORMAT, FORMAT_KEY } from "../../store/format.ts";
import { decodeKey, encodeKey } from "../../store/key.ts";
import { upgradeStore } from "../../store/upgrade/run_upgrade.ts";
import { fillOlder } from "../../store/upgrade/test_older_store.ts";
import { createTrivet } from "../../trivet.ts";
import { CLI, runtimeCommand, startTrivet, temporaryFolder, trivet } from "../test_process.ts";

/**
 * Data folders that commits of this repository wrote (`fixtures/data_folders/README.md`), and what is true of each.
 * Sessions and tokens of these folders have expired, except for a test that sets the clock.
 */
const FOLDERS: Readonly<Record<string, { refused?: string; skill?: true; session?: true; refresh?: true }>> =
  {
    first_clients: {},
    first_keys: {},
    sessions_without_index: { session: true, refresh: true },
    no_format: { skill: true, session: true, refresh: true },
    format_1: { skill: true, session: true, refresh: true },
    format_1_last: { skill: true, session: true, refresh: true },
    skill_files: { refused: "skill_file" },
    counted_blobs: { refused: "skill" },
    skills_without_versions: { refused: "skill" },
  };

interface Known {
  readonly made: number;
  readonly issuer: string;
  readonly client: { readonly id: string; readonly secret: string };
  readonly user: { readonly username: string; readonly password: string };
  readonly api_key: string;
  readonly session: readonly string[];
  readonly access_token: string;
  readonly refresh_token: string;
}

const test = suite("data folders of earlier commits");
const fixture = (name: string) =>
  fileURLToPath(new URL(`../../../fixtures/data_folders/${name}`, import.meta.url));
const knownOf = (name: string): Known => JSON.parse(readFileSync(fixture(`${name}.json`), "utf8"));

function folderOf(name: string): ReturnType<typeof temporaryFolder> {
  const folder = temporaryFolder();
  copyFileSync(fixture(`${name}.db`), join(folder.path, "trivet.db"));
  return folder;
}

function basic({ client }: Known): string {
  return `Basic ${btoa(`${client.id}:${client.secret}`)}`;
}

async function post(url: string, form: Record<string, string>, headers: HeadersInit = {}): Promise<Response> {
  return await fetch(url, { method: "POST", body: new URLSearchParams(form), headers, redirect: "manual" });
}

for (const [name, { refused, skill }] of Object.entries(FOLDERS)) {
  if (refused !== undefined) {
    test(`${name}: is refused with a line that says what to do, and is not changed`, async () => {
      const folder = folderOf(name);
      const before = readFileSync(join(folder.path, "trivet.db")).length;
      for (const command of [["serve", "--port", "0", "--json"], ["upgrade"], ["upgrade", "--dry-run"]]) {
        const { code, stderr } = await trivet([...command, "--data", folder.path]);
        assert.is(code, 1, stderr);
        assert.match(
          stderr,
          new RegExp(`^trivet \\w+: The store has "${refused}" records .*trivet skill remove.*\\n$`),
        );
      }
      const database = new DatabaseSync(join(folder.path, "trivet.db"));
      assert.is(database.prepare("SELECT count(*) AS n FROM record WHERE key LIKE '1format%'").get()!.n, 0);
      database.close();
      assert.ok(before > 0);
      folder.remove();
    });
    continue;
  }
  test(`${name}: serve upgrades it; user, client and API key go on working`, async () => {
    const folder = folderOf(name);
    const known = knownOf(name);
    const server = await startTrivet(["--data", folder.path, "--issuer", known.issuer]);
    const { url } = server.facts;
    const login = await post(`${url}/login`, known.user);
    assert.ok(
      login.headers.getSetCookie().some((cookie) => cookie.startsWith("session_")),
      String(login.status),
    );
    const token = await post(`${url}/oauth/token`, { grant_type: "client_credentials" }, {
      authorization: basic(known),
    });
    assert.is(token.status, 200);
    const { access_token } = await token.json();
    assert.ok(access_token);
    const skills = await fetch(`${url}/v1/skills?source=custom`, { headers: { "x-api-key": known.api_key } });
    assert.is(skills.status, 200);
    const { data } = await skills.json();
    assert.is(
      data.some((each: { name?: string }) => JSON.stringify(each).includes("greeting")),
      skill === true,
    );
    const upgraded = /"event":"upgraded"/;
    for (let i = 0; i < 600 && !upgraded.test(server.stderr()); i++) {
      await new Promise((r) => setTimeout(r, 50));
    }
    assert.match(server.stderr(), upgraded);
    assert.is(server.problems(), "");
    await server.stop();
    const { code, stdout } = await trivet(["user", "list", "--data", folder.path]);
    assert.is(code, 0);
    assert.match(stdout, "alice");
    const again = await trivet(["upgrade", "--json", "--data", folder.path]);
    assert.equal(JSON.parse(again.stdout), { kinds: [], dry_run: false });
    const database = new DatabaseSync(join(folder.path, "trivet.db"));
    for (const { key } of database.prepare("SELECT key FROM record").all()) {
      assert.ok(CURRENT_FORMAT.kinds[String(decodeKey(String(key))[0])], `${key} has a kind of the table`);
    }
    database.close();
    folder.remove();
  });

  test(`${name}: tokens and sessions go on, or end and say so`, async () => {
    const folder = folderOf(name);
    const known = knownOf(name);
    const now = () => known.made + 1000;
    const store = sqliteStore(join(folder.path, "trivet.db"), { allowOlder: true, now });
    await upgradeStore(store);
    const server = createTrivet({ issuer: known.issuer, store, now, onEvent: () => {} });
    const send = (path: string, form: Record<string, string> | undefined, headers: HeadersInit) =>
      server.fetch(
        new Request(known.issuer + path, {
          method: form ? "POST" : "GET",
          headers,
          ...(form && { body: new URLSearchParams(form) }),
        }),
      );
    const user = await send("/api/user", undefined, { authorization: `Bearer ${known.access_token}` });
    const isAlive = FOLDERS[name]!.refresh === true;
    // A valid token without the scope of this resource is 403.
    assert.is(user.status, isAlive ? 403 : 401);
    const account = await send("/account/sessions", undefined, {
      cookie: known.session.join("; "),
      accept: "text/html",
    });
    assert.is(account.status, FOLDERS[name]!.session ? 200 : 302);
    const refresh = { grant_type: "refresh_token", refresh_token: known.refresh_token };
    const refreshed = await send("/oauth/token", refresh, { authorization: basic(known) });
    assert.is(refreshed.status, isAlive ? 200 : 400);
    if (!isAlive) assert.is((await refreshed.json()).error, "invalid_grant");
    // Every grant and session is found by its user, so that it can be ended.
    for (const [kind, index] of [["grant", "user_grant"], ["session", "user_session"]] as const) {
      const records = await store.list<{ user: string }>([kind]);
      assert.is(records.length, isAlive ? 1 : 0);
      for (const { key, value } of records) assert.ok(await store.get([index, value.user, key[1]!]), index);
    }
    await store.close();
    folder.remove();
  });
}

const MAX_KILLS = 3;

test("an upgrade that is killed goes on, and loses nothing", async () => {
  const folder = temporaryFolder();
  mkdirSync(folder.path, { recursive: true });
  const file = join(folder.path, "trivet.db");
  const filling = sqliteStore(file, { durable: "process" });
  await fillOlder(filling, 20_000);
  await filling.close();
  // Reads the position of the upgrade, from its commits.
  const watching = new DatabaseSync(file);
  const select = watching.prepare("SELECT value FROM record WHERE key = ?");
  const readGrants = (): number => {
    const row = select.get(encodeKey(["upgrade", "grant"]));
    return row ? JSON.parse(String(row.value)).read : 0;
  };
  const [command, before] = runtimeCommand();
  const positions: number[] = [];
  for (let done = false; !done;) {
    const last = positions.at(-1) ?? 0;
    const child = spawn(command, [...before, CLI, "upgrade", "--data", folder.path], { stdio: "ignore" });
    const killing = setInterval(() => {
      if (positions.length < MAX_KILLS && readGrants() >= last + 4000) child.kill("SIGKILL");
    }, 2);
    const [code, signal] = await new Promise<[number | null, string | null]>((resolve) =>
      child.on("close", (...how) => resolve(how))
    );
    clearInterval(killing);
    done = code === 0;
    if (!done) {
      assert.is(signal, "SIGKILL", `it was killed and did not fail with ${code}`);
      positions.push(readGrants());
    }
  }
  watching.close();
  // Each run went on where the last was killed, and one at least was killed amid its work.
  assert.equal(positions, positions.toSorted((a, b) => a - b));
  assert.ok(positions.some((read) => read > 0 && read < 20_000), `killed after ${positions}`);
  const store = sqliteStore(file);
  assert.equal((await store.get(FORMAT_KEY))!.value, CURRENT_FORMAT);
  assert.is((await store.list(["user_grant"], { limit: 1e5 })).length, 20_000);
  assert.is((await store.list(["grant"], { limit: 1e5 })).length, 20_000);
  await store.close();
  folder.remove();
});

test("a backup of an earlier version is upgraded by restore; one of a newer version is refused", async () => {
  const folder = folderOf("format_1");
  const restored = temporaryFolder();
  const file = join(folder.path, "earlier.db");
  assert.is((await trivet(["backup", file, "--data", folder.path])).code, 0);
  const { code, stdout, stderr } = await trivet(["restore", file, "--data", restored.path, "--json"]);
  assert.is(code, 0, stderr);
  assert.is(JSON.parse(stdout).upgraded, true);
  assert.is((await trivet(["user", "list", "--data", restored.path])).code, 0);
  const newer = sqliteStore(join(restored.path, "trivet.db"));
  const kinds = { ...CURRENT_FORMAT.kinds, client: CURRENT_FORMAT.kinds.client! + 1 };
  await newer.commit({ set: [{ key: FORMAT_KEY, value: { ...CURRENT_FORMAT, kinds } }] });
  await newer.close();
  const target = temporaryFolder();
  for (
    const args of [
      ["restore", join(restored.path, "trivet.db"), "--data", target.path],
      ["serve", "--port", "0", "--json", "--data", restored.path],
      ["user", "list", "--data", restored.path],
      ["upgrade", "--data", restored.path],
    ]
  ) {
    const refusal = await trivet(args);
    assert.is(refusal.code, 1);
    assert.match(refusal.stderr, /"client" records of version 3.*version 2.*Update Trivet.*\n$/);
  }
  for (const each of [folder, restored, target]) each.remove();
});

test.run();
