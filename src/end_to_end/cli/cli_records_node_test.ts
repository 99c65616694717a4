import { writeFileSync } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { newDataFolder, temporaryFolder, trivet } from "../test_process.ts";

const test = suite("trivet client, user, key, skill");
const folder = temporaryFolder();
let folders = 0;
const newFolder = (): string => join(folder.path, String(++folders));
test.after(() => folder.remove());

const SKILL = fileURLToPath(new URL("../../../fixtures/skills/meeting-notes", import.meta.url));

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

test.run();
