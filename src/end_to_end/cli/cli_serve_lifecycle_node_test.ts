import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { mkdir, readdir, symlink } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { startTrivet, temporaryFolder, trivet } from "../test_process.ts";

const test = suite("trivet serve: start and end");
const folder = temporaryFolder();
let folders = 0;
const newFolder = (): string => join(folder.path, String(++folders));
test.after(() => folder.remove());

const SKILL = fileURLToPath(new URL("../../../fixtures/skills/meeting-notes", import.meta.url));

test("serve --json: the first start creates the demo and prints its secrets; later starts print null", async () => {
  const data = newFolder();
  const first = await startTrivet(["--data", data]);
  const { issuer, client, user, api_key, mcp, skills_dir } = first.facts;
  assert.match(issuer, /^http:\/\/127\.0\.0\.1:\d+$/);
  assert.is(mcp, `${issuer}/mcp`);
  assert.is(skills_dir, join(data, "skills"));
  assert.equal((await readdir(skills_dir)).sort(), ["commit-messages", "meeting-notes"]);
  assert.equal(Object.keys(first.facts), ["issuer", "url", "client", "user", "api_key", "mcp", "skills_dir"]);
  for (const secret of [client.secret, user.password, api_key]) assert.ok(secret!.length >= 20);
  const form = { grant_type: "client_credentials", client_id: client.id, client_secret: client.secret! };
  const token = await fetch(`${issuer}/oauth/token`, { method: "POST", body: new URLSearchParams(form) });
  assert.is(token.status, 200);
  const { access_token } = await token.json();
  assert.is(await first.stop(), 0);

  const second = await startTrivet(["--data", data]);
  assert.is(second.facts.client.secret, null);
  assert.is(second.facts.user.password, null);
  assert.is(second.facts.api_key, null);
  assert.is(second.facts.client.id, client.id);
  const headers = { authorization: `Bearer ${access_token}` };
  assert.is(
    (await fetch(`${second.facts.issuer}/v1/skills`, { headers })).status,
    200,
    "the token of the first start still works",
  );
  assert.is(
    (await fetch(`${second.facts.issuer}/v1/skills`, { headers: { "x-api-key": api_key! } })).status,
    200,
  );
  assert.is(await second.stop(), 0);

  const third = await startTrivet(["--data", data, "--show-secrets"]);
  assert.equal(third.facts.client, client);
  assert.equal(third.facts.user, user);
  assert.is(third.facts.api_key, api_key);
  assert.is(await third.stop("SIGINT"), 0);
  assert.is(statSync(join(data, "demo.json")).mode & 0o777, 0o600);
});

test("serve: the home page lists the services; unknown paths are 404", async () => {
  const server = await startTrivet(["--store", "memory", "--data", newFolder()]);
  const home = await fetch(server.facts.issuer);
  assert.is(home.status, 200);
  const page = await home.text();
  for (const text of ["Permission", "Know-how", "Tools", "/oauth/authorize", "/v1/skills", "/mcp"]) {
    assert.match(page, text);
  }
  assert.is((await fetch(server.facts.issuer + "/missing")).status, 404);
  assert.is((await fetch(server.facts.issuer, { method: "POST" })).status, 405);
  assert.is(await server.stop(), 0);
});

test("serve: of instances that start together one makes the demo, and its secrets are right", async () => {
  const data = newFolder();
  const servers = await Promise.all([1, 2, 3].map(() => startTrivet(["--data", data])));
  const [made, ...more] = servers.map(({ facts }) => facts).filter(({ api_key }) => api_key !== null);
  assert.is(more.length, 0);
  const { client, user, api_key } = made!;
  for (const { facts: { url } } of servers) {
    const form = { grant_type: "client_credentials", client_id: client.id, client_secret: client.secret! };
    const token = await fetch(`${url}/oauth/token`, { method: "POST", body: new URLSearchParams(form) });
    assert.is(token.status, 200);
    const login = new URLSearchParams({ username: user.username, password: user.password! });
    const entered = await fetch(`${url}/login`, { method: "POST", body: login, redirect: "manual" });
    assert.ok(entered.status < 400, String(entered.status));
    const skills = await fetch(`${url}/v1/skills`, { headers: { "x-api-key": api_key! } });
    assert.is(skills.status, 200);
  }
  for (const server of servers) assert.is(await server.stop(), 0);
});

test("serve: instances that start together create one complete skills folder", async () => {
  const parent = newFolder();
  const skills = join(parent, "skills");
  const start = () => startTrivet(["--data", newFolder(), "--skills", skills, "--no-demo"]);
  const servers = await Promise.all([start(), start(), start(), start()]);
  assert.equal(await Promise.all(servers.map((server) => server.stop())), [0, 0, 0, 0]);
  assert.equal(await readdir(parent), ["skills"]);
  const files = await readdir(skills, { recursive: true });
  assert.equal(files.sort(), (await readdir(dirname(SKILL), { recursive: true })).sort());
});

test("serve: the start prints skipped skills", async () => {
  const data = newFolder();
  await mkdir(join(data, "skills/broken"), { recursive: true });
  writeFileSync(join(data, "skills/broken/SKILL.md"), "no front matter");
  await symlink("/etc", join(data, "skills/link"));
  const server = await startTrivet(["--data", data, "--no-demo"]);
  assert.is(await server.stop(), 0);
  assert.match(server.stderr(), `skipped ${join(data, "skills/broken")}: SKILL.md line 1: `);
  assert.match(server.stderr(), `skipped ${join(data, "skills/link")}: `);
});

test("serve: --no-demo creates no demo, --token-format jwt issues JWTs, --mcp-auth required requires a token", async () => {
  const data = newFolder();
  const server = await startTrivet([
    "--data",
    data,
    "--no-demo",
    "--token-format",
    "jwt",
    "--mcp-auth",
    "required",
  ]);
  const { issuer } = server.facts;
  assert.not.ok(existsSync(join(data, "demo.json")));
  const added = await trivet([
    "client",
    "add",
    "--id",
    "worker",
    "--grant-type",
    "client_credentials",
    "--json",
    "--data",
    data,
  ]);
  const { secret } = JSON.parse(added.stdout);
  const form = { grant_type: "client_credentials", client_id: "worker", client_secret: secret };
  const token = await fetch(`${issuer}/oauth/token`, { method: "POST", body: new URLSearchParams(form) });
  assert.is(
    (await token.json()).access_token.split(".").length,
    3,
    "a running server sees a client that the CLI adds",
  );
  const call = await fetch(`${issuer}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
  });
  assert.is(call.status, 401);
  assert.is(await server.stop(), 0);
});

test("serve: a port in use ends the process with exit code 1 before it creates files", async () => {
  const blocker = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => blocker.once("listening", resolve));
  const { port } = blocker.address() as { port: number };
  const data = newFolder();
  const { code, stderr } = await trivet(["serve", "--port", String(port), "--data", data]);
  assert.is(code, 1);
  assert.match(stderr, new RegExp(`127\\.0\\.0\\.1:${port}: .* --port`));
  assert.not.ok(existsSync(data));
  const metrics = await trivet(["serve", "--port", "0", "--metrics-port", String(port), "--data", data]);
  blocker.close();
  assert.is(metrics.code, 1);
  assert.match(metrics.stderr, new RegExp(`127\\.0\\.0\\.1:${port}: .* --metrics-port`));
  assert.not.ok(existsSync(data));
});

test("serve: an unusable data folder ends the process with exit code 1 and says why", async () => {
  const file = join(folder.path, "a-file");
  writeFileSync(file, "text");
  const blocked = await trivet(["serve", "--port", "0", "--data", file]);
  assert.is(blocked.code, 1);
  assert.match(blocked.stderr, `"${file}" is not a folder`);
  assert.match(blocked.stderr, "--data");
  assert.not.match(blocked.stderr, /\n\s+at /);
  const backup = await trivet(["backup", join(file, "b.db"), "--data", newFolder()]);
  assert.is(backup.code, 1);
  assert.not.match(backup.stderr, /E[A-Z]+:/);
});

test("serve: a folder of --skills that did not exist is named", async () => {
  const skills = join(folder.path, "mistyped");
  const server = await startTrivet(["--data", newFolder(), "--skills", skills, "--no-demo"]);
  await server.stop();
  assert.match(server.stderr(), skills);
});

test("serve: SIGTERM waits for the requests in flight", async () => {
  const server = await startTrivet(["--data", newFolder()]);
  const { issuer, user } = server.facts;
  // Hashing the password takes about 100 ms: the login is still in flight at the signal. The connection is open before.
  await (await fetch(issuer)).text();
  const login = fetch(`${issuer}/login`, {
    method: "POST",
    body: new URLSearchParams({ username: user.username, password: user.password! }),
  });
  await new Promise((resolve) => setTimeout(resolve, 50));
  const stopped = server.stop();
  assert.is((await login).status, 200);
  assert.is(await stopped, 0);
  assert.is(await fetch(issuer).then(() => "connected", () => "refused"), "refused");
});

test("serve: SIGKILL loses no acknowledged upload and leaves no incomplete one", async () => {
  const data = newFolder();
  const first = await startTrivet(["--data", data]);
  const headers = { "x-api-key": first.facts.api_key! };
  const acknowledged: string[] = [];
  let stop = false;
  const uploads = Array.from({ length: 4 }, async () => {
    while (!stop) {
      const form = new FormData();
      form.append("files[]", new Blob([readFileSync(join(SKILL, "SKILL.md"))]), "meeting-notes/SKILL.md");
      form.append("files[]", new Blob([new Uint8Array(50_000)]), "meeting-notes/data.bin");
      const response = await fetch(`${first.facts.issuer}/v1/skills`, { method: "POST", headers, body: form })
        .catch(() => undefined);
      if (!response?.ok) return;
      const created = await response.json().catch(() => undefined);
      if (created) acknowledged.push(created.id);
      if (acknowledged.length >= 40) stop = true;
    }
  });
  while (acknowledged.length < 20) await new Promise((resolve) => setTimeout(resolve, 5));
  first.child.kill("SIGKILL");
  await Promise.all(uploads);
  const second = await startTrivet(["--data", data]);
  for (const id of acknowledged) {
    assert.is(
      (await fetch(`${second.facts.issuer}/v1/skills/${id}`, { headers })).status,
      200,
      `${id} is lost`,
    );
  }
  await second.stop();
  const { sqliteStore } = await import("../../store/drivers/sqlite.ts");
  const store = sqliteStore(join(data, "trivet.db"));
  const count = async (kind: string) => (await store.list([kind], { limit: 10_000 })).length;
  assert.is(await count("skill_version"), await count("skill"));
  // The two files are the same in every upload: stored once, with one reference per upload.
  const blobs = await store.list<{ object: string }>(["blob"]);
  assert.is(blobs.length, 2);
  assert.is(await count("blob_reference"), 2 * await count("skill"));
  for (const { value } of blobs) assert.is((await store.list(["blob_data", value.object])).length, 1);
  await store.close();
});

test.run();
