import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { mkdir, readdir, symlink } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { newDataFolder, startTrivet, temporaryFolder, trivet } from "../test_process.ts";

const test = suite("trivet");
const folder = temporaryFolder();
let folders = 0;
const newFolder = (): string => join(folder.path, String(++folders));
test.before(async () => void await newDataFolder(join(folder.path, "data")));
test.after(() => folder.remove());

const SKILL = fileURLToPath(new URL("../../../fixtures/skills/meeting-notes", import.meta.url));

test("--help and --version print to standard output; every command has its own help", async () => {
  const help = await trivet(["--help"]);
  assert.is(help.code, 0);
  const names = [...help.stdout.matchAll(/^ {2}([a-z]+) {2}/gm)].map(([, name]) => name!);
  assert.ok(names.length >= 14, help.stdout);
  for (const command of names) {
    const own = await trivet([command, "--help"]);
    assert.is(own.code, 0);
    assert.match(own.stdout, `Usage: trivet ${command}`);
    assert.is(own.stderr, "");
  }
  const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8"));
  assert.is((await trivet(["--version"])).stdout, `${version}\n`);
});

for (
  const [args, mentions] of [
    [[], ["trivet <command>", "serve", "stdio", "client", "user", "skill", "key", "migrate"]],
    [["usr"], ['Did you mean "user"?']],
    [["key", "lst"], ['Did you mean "list"?']],
    [["key", "list", "--jsn"], ['Did you mean "--json"?']],
    [["key", "delete", "x"], ['Did you mean "remove"?']],
    [["key", "add", "--scope", "skils:read"], ['Did you mean "skills:read"?']],
    [["fly"], ['"fly"']],
    [["serve", "--no-such-option"], ["'--no-such-option'"]],
    [["serve", "--port", "http"], ["--port ", '"http"']],
    [["serve", "--port", "70000"], ["--port ", '"70000"']],
    [["serve", "--trusted-proxy", "10.0.0.0/64"], ["--trusted-proxy ", '"10.0.0.0/64"']],
    [["serve", "--trusted-proxy-field", "forwarded"], ["--trusted-proxy-field ", " --trusted-proxy\n"]],
    [["serve", "--issuer", "foo"], ["--issuer ", '"foo"']],
    [["serve", "--issuer", "http://public.example"], ["--issuer ", "https", '"http://public.example"']],
    [["stdio", "--issuer", "https://a.example/?b"], ["--issuer ", '"https://a.example/?b"']],
    [["invitation", "add", "--issuer", "ftp://a.example"], ["--issuer ", '"ftp://a.example"']],
    [["serve", "--tls-cert", "missing.pem", "--tls-key", "missing.pem"], ["--tls-cert", '"missing.pem"']],
    [["serve", "--store", "paper"], ["--store ", "sqlite, memory"]],
    [["serve", "now"], ['"now"']],
    [["stdio", "./no/tools.ts"], ['"./no/tools.ts"']],
    [["stdio", "."], ['"."']],
    [["serve", "one.ts", "two.ts"], ['"two.ts"']],
    [["serve", "--watch"], ["--watch ", "MODULE"]],
    [["client"], ["add, list, show"]],
    [["cleint"], ['Did you mean "client"?']],
    [["user", "lsit"], ['Did you mean "list"?']],
    [["client", "add", "--redirect-url", "x"], ['Did you mean "--redirect-uri"?']],
    [["user", "lock", "alice", "--emial", "x"], ["--emial"]],
    [["provider", "test", "x", "--name", "y"], ["--name is not an option of trivet provider test"]],
    [["client", "list", "--store", "memory"], ["--store memory"]],
    [["client", "remove"], [": ID or NAME"]],
    [["client", "add", "--grant-type", "password"], ["--grant-type ", '"password"']],
    [["user", "add"], [": USERNAME"]],
    [["user", "add", "bob", "--generate", "--role", "root"], ["--role ", "reader, author, admin", '"root"']],
    [["serve", "--redirect-scheme", "javascript"], ["--redirect-scheme ", '"javascript"']],
    [["user", "add", "bob"], ["--password-stdin", "--generate"]],
    [["skill", "add"], [": FOLDER or ZIP"]],
    [["key", "add", "--scope", "everything"], ["--scope ", '"everything"']],
  ] as const
) {
  test(`trivet ${args.join(" ")} ends with exit code 2 and an error that names ${mentions.join(" and ")}`, async () => {
    const { code, stdout, stderr } = await trivet([...args], { cwd: folder.path });
    assert.is(code, 2);
    for (const mention of mentions) assert.match(stdout + stderr, mention);
    assert.not.match(stderr, /\n\s+at /);
  });
}

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
  blocker.close();
  assert.is(code, 1);
  assert.match(stderr, `127.0.0.1:${port}`);
  assert.not.ok(existsSync(data));
});

test("serve: an unusable data folder ends the process with exit code 1 and says why", async () => {
  const file = join(folder.path, "a-file");
  writeFileSync(file, "text");
  const blocked = await trivet(["serve", "--port", "0", "--data", file]);
  assert.is(blocked.code, 1);
  assert.match(blocked.stderr, `"${file}": it exists already`);
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

test("client: add prints the secret once; list prints clients; remove removes one", async () => {
  const data = ["--data", await newDataFolder(newFolder())];
  const added = await trivet([
    "client",
    "add",
    "--name",
    "My app",
    "--domain",
    "app.example",
    "--json",
    ...data,
  ]);
  const client = JSON.parse(added.stdout);
  assert.match(client.secret, /^trivet_cs_/);
  const listed = await trivet(["client", "list", "--json", ...data]);
  assert.not.match(listed.stdout, "trivet_cs_");
  assert.is(JSON.parse(listed.stdout).data[0].domain, "app.example");
  assert.match((await trivet(["client", "list", ...data])).stdout, "My app");
  assert.is((await trivet(["client", "remove", client.id, ...data])).code, 0);
  const repeated = await trivet(["client", "remove", client.id, ...data]);
  assert.is(repeated.code, 1);
  assert.match(repeated.stderr, `"${client.id}"`);
  const bad = await trivet(["client", "add", "--redirect-uri", "http://public.example/cb", ...data]);
  assert.is(bad.code, 1);
  assert.match(bad.stderr, "http://public.example/cb");
});

test("user: add reads the password from standard input or generates it; list never prints it", async () => {
  const data = ["--data", await newDataFolder(newFolder())];
  const added = await trivet(
    ["user", "add", "alice", "--password-stdin", "--email", "a@b.example", ...data],
    { input: "secret\n" },
  );
  assert.is(added.code, 0);
  const truncated = { input: Uint8Array.of(0x70, 0xf0, 0x9f, 0x92) };
  assert.not.equal((await trivet(["user", "add", "cut", "--password-stdin", ...data], truncated)).code, 0);
  const generated = await trivet(["user", "add", "bob", "--generate", "--json", ...data]);
  assert.is(JSON.parse(generated.stdout).secret.length, 20);
  const listed = await trivet(["user", "list", "--json", ...data]);
  assert.equal(JSON.parse(listed.stdout).data.map((user: { username: string }) => user.username).sort(), [
    "alice",
    "bob",
  ]);
  assert.not.match(listed.stdout, "pbkdf2");
  const rolesOf = async () =>
    Object.fromEntries(
      (JSON.parse((await trivet(["user", "list", "--json", ...data])).stdout).data as {
        username: string;
        role: string | null;
      }[]).map(({ username, role }) => [username, role]),
    );
  await trivet(["user", "add", "carol", "--generate", "--role", "author", ...data]);
  assert.equal(await rolesOf(), { alice: null, bob: null, carol: "author" });
  assert.is((await trivet(["user", "update", "alice", "--role", "admin", ...data])).code, 0);
  assert.is((await trivet(["user", "update", "carol", "--role", "reader", ...data])).code, 0);
  assert.equal(await rolesOf(), { alice: "admin", bob: null, carol: "reader" });
  for (const wrong of [["alice", "--role", "root"], ["alice"], ["unknown", "--role", "admin"]]) {
    assert.not.equal((await trivet(["user", "update", ...wrong, ...data])).code, 0);
  }
  const duplicate = await trivet(["user", "add", "ALICE", "--generate", ...data]);
  assert.is(duplicate.code, 1);
  assert.match(duplicate.stderr, '"ALICE"');
  assert.is((await trivet(["user", "remove", "alice", ...data])).code, 0);
  assert.is((await trivet(["user", "remove", "alice", ...data])).code, 1);
});

test("key: add prints the secret once; list prints keys; remove removes one", async () => {
  const data = ["--data", await newDataFolder(newFolder())];
  const { secret, id } = JSON.parse(
    (await trivet(["key", "add", "--name", "ci", "--scope", "skills:read", "--json", ...data])).stdout,
  );
  assert.match(secret, /^trivet_key_/);
  const listed = await trivet(["key", "list", ...data]);
  assert.match(listed.stdout, "ci");
  assert.not.match(listed.stdout, secret);
  assert.is((await trivet(["key", "remove", id, ...data])).code, 0);
  assert.is((await trivet(["key", "remove", id, ...data])).code, 1);
});

test("skill: add checks a folder by the rules of uploads and prints every broken rule", async () => {
  const data = ["--data", await newDataFolder(newFolder())];
  const added = await trivet(["skill", "add", SKILL, "--json", ...data]);
  const { id, name } = JSON.parse(added.stdout);
  assert.is(name, "meeting-notes");
  assert.match((await trivet(["skill", "list", ...data])).stdout, "meeting-notes");
  assert.is((await trivet(["skill", "remove", id, ...data])).code, 0);
  const bad = join(newFolder(), "Bad_Name");
  await mkdir(bad, { recursive: true });
  writeFileSync(join(bad, "SKILL.md"), `---\nname: Bad_Name\ndescription: ${"x".repeat(1025)}\n---\n`);
  const refused = await trivet(["skill", "add", bad, ...data]);
  assert.is(refused.code, 1);
  assert.match(refused.stderr, /SKILL\.md line 2: .*\[name-form\]/);
  assert.match(refused.stderr, /SKILL\.md line 3: .*\[description-length\]/);
  await symlink("/etc/hostname", join(bad, "link"));
  assert.match((await trivet(["skill", "add", bad, ...data])).stderr, join(bad, "link"));
  assert.match((await trivet(["skill", "add", join(bad, "missing"), ...data])).stderr, join(bad, "missing"));
});

test("stdio: standard output carries only messages, and the process ends with its input", async () => {
  const input = [
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}',
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    "not json",
    '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_skills"}}',
  ].join("\n");
  const { code, stdout } = await trivet(["stdio", "--data", newFolder()], { input });
  assert.is(code, 0);
  const messages = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  assert.is(messages.length, 3);
  assert.is(messages.find((message) => message.id === 1).result.protocolVersion, "2025-03-26");
  assert.is(messages.find((message) => message.id === null).error.code, -32700);
  assert.match(messages.find((message) => message.id === 2).result.content[0].text, "commit-messages");
});

test.run();
