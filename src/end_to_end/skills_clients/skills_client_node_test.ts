import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { SkillsClient, SkillVerificationError } from "@modelcontextprotocol/client/ext/skills";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createTrivet, memoryStore, type Trivet } from "../../mod.ts";
import { createApiKey } from "../../skills/api_key.ts";
import { skillFolder } from "../../runtime/skill_folder.ts";
import { temporaryFolder } from "../test_process.ts";

const test = suite("official client of the Skills extension");
const ISSUER = "http://127.0.0.1:8787";
const folder = temporaryFolder();
test.after(() => folder.remove());

const FRONT = [
  "name: odd-files",
  "description: |",
  "  Two lines,",
  '  with "quotes" and ünïcode',
  "license: 'Apache-2.0'",
  "version: 1.10",
  "when: 2026-01-01",
  "metadata:",
  "  author: me",
  "  version: '1.0'",
  "numbers: [0x1f, 1e3, .5, '007', yes, ~, true]",
  "deep:",
  "  a:",
  "    - b: true",
].join("\r\n");
const FILES: Readonly<Record<string, string | Uint8Array>> = {
  "odd-files/SKILL.md": `\ufeff---\r\n${FRONT}\r\n---\r\nText\r\n`,
  "odd-files/empty": "",
  "odd-files/a b & c's (1).md": "x",
  "odd-files/100%.txt": "x",
  "odd-files/a#b?.txt": "x",
  "odd-files/ünïcode/日本語/e\u0301.txt": "é",
  "odd-files/bytes.bin": Uint8Array.of(0, 255, 254, 10, 13),
  "odd-files/latin1.txt": Uint8Array.of(0xe9, 0x0a),
  "odd-files/lines.txt": "a\r\nb\rc\n",
  "odd-files/picture.png": Uint8Array.of(137, 80, 78, 71),
  "odd-files/nested/SKILL.md": "---\nname: nested\ndescription: x\n---\n",
  "plain/SKILL.md": "---\nname: plain\ndescription: Plain.\n---\n",
};

function write(files: typeof FILES): void {
  for (const [path, content] of Object.entries(files)) {
    const target = join(folder.path, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, content);
  }
}

async function connect(
  trivet: Trivet,
  headers: Record<string, string> = {},
): Promise<{ client: Client; skills: SkillsClient }> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } });
  const transport = new StreamableHTTPClientTransport(new URL(ISSUER + "/mcp"), {
    requestInit: { headers },
    fetch: (url, init) => trivet.fetch(new Request(url, init)),
  });
  await client.connect(transport);
  return { client, skills: new SkillsClient(client) };
}

test("the client lists, gets and verifies every file of local and uploaded skills and reads their folders", async () => {
  write(FILES);
  symlinkSync(join(folder.path, "plain/SKILL.md"), join(folder.path, "plain/link.md"));
  const store = memoryStore();
  const trivet = createTrivet({
    issuer: ISSUER,
    store,
    skills: { folders: [skillFolder(folder.path)] },
    mcp: { pageSize: 2 },
  });
  const { secret } = await createApiKey(store, { name: "test" });
  const headers = { "x-api-key": secret };
  for (let i = 0; i < 3; i++) {
    const body = new FormData();
    for (const [path, content] of Object.entries(FILES)) {
      if (!path.startsWith("odd-files/") || /[?]/.test(path)) continue;
      body.append("files[]", new Blob([content as Uint8Array<ArrayBuffer>]), path);
    }
    const response = await trivet.fetch(
      new Request(ISSUER + "/v1/skills", { method: "POST", headers, body }),
    );
    assert.is(response.status, 200, await response.text());
  }

  const { client, skills } = await connect(trivet, headers);
  assert.ok(skills.supported && skills.directoryRead);
  const { skills: entries } = await skills.list();
  assert.equal(entries.map((each) => each.frontmatter.name), [
    "odd-files",
    "plain",
    "odd-files",
    "odd-files",
    "odd-files",
  ]);
  for (const entry of entries) {
    assert.equal((await skills.get(entry.uri)).skill, entry);
    const { verified, frontmatter } = await skills.read(entry);
    assert.ok(verified);
    assert.equal(frontmatter, entry.frontmatter);
    const listed = (entry.resources as { uri: string }[]).map(({ uri }) => uri);
    for (const uri of listed) assert.ok((await skills.read(entry, uri)).verified, uri);

    const walked: string[] = [];
    const walk = async (uri: string): Promise<void> => {
      for (const each of (await skills.readDirectory(uri)).resources) {
        if (each.mimeType === "inode/directory") await walk(each.uri);
        else walked.push(each.uri);
      }
    };
    await walk(entry.uri.slice(0, -"/SKILL.md".length));
    assert.equal(walked.sort(), listed.sort());
  }
  assert.is((entries[0]!.resources as unknown[]).length, 11);
  assert.is((entries[1]!.resources as unknown[]).length, 1, "without the symbolic link");
  assert.is((await skills.read(entries[0]!, "a b & c's (1).md")).text, "x");
  await client.close();

  const anonymous = await connect(trivet);
  assert.is((await anonymous.skills.list()).skills.length, 2);
  const hidden = await anonymous.skills.get(entries[2]!.uri).catch((error) => error);
  assert.is(hidden.code, -32602);
  await anonymous.client.close();
});

test("a changed file fails verification until the client gets the skill again", async () => {
  write(FILES);
  let offset = 0;
  const trivet = createTrivet({
    issuer: ISSUER,
    store: memoryStore(),
    oauth: false,
    skills: { auth: "off", folders: [skillFolder(folder.path)] },
    now: () => Date.now() + offset,
  });
  const { client, skills } = await connect(trivet);
  const { skill } = await skills.get("skill://odd-files/SKILL.md");
  write({ "odd-files/lines.txt": "changed" });
  const error = await skills.read(skill, "lines.txt").catch((error) => error);
  assert.instance(error, SkillVerificationError);
  offset += 2000;
  const { skill: updated } = await skills.get("skill://odd-files/SKILL.md");
  assert.is((await skills.read(updated, "lines.txt")).text, "changed");
  await client.close();
});

test.run();
