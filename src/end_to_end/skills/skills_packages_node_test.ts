import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { digestOf } from "../../skills/content_digest.ts";
import { newService, type TestFile, zip } from "../../skills/test_service.ts";
import { reportOn } from "../../skills/package/validation_report.ts";
import { skillFolder } from "../../runtime/skill_folder.ts";

const test = suite("packages of anthropics/skills");
const ROOT = fileURLToPath(new URL("../../../fixtures/packages/anthropics", import.meta.url));
const reader = { workspace: "default", scopes: new Set(["skills:read"]) };
const LIMIT = 8 * 1024 * 1024;

/** The validation report of each package: bytes, estimated tokens, and codes of errors and warnings. */
const PACKAGES: Readonly<
  Record<string, {
    files: number;
    bytes: number;
    tokens: { metadata: number; instructions: number };
    errors?: readonly string[];
    warnings: readonly string[];
  }>
> = {
  "algorithmic-art": {
    files: 4,
    bytes: 59784,
    tokens: { metadata: 86, instructions: 4840 },
    warnings: ["metadata-tokens"],
  },
  "brand-guidelines": {
    files: 2,
    bytes: 13580,
    tokens: { metadata: 64, instructions: 479 },
    warnings: ["metadata-tokens"],
  },
  "claude-api": {
    files: 64,
    bytes: 752554,
    tokens: { metadata: 270, instructions: 18038 },
    errors: ["name-reserved SKILL.md:2", "description-length SKILL.md:3"],
    warnings: ["instructions-tokens", "metadata-tokens", "instructions-lines"],
  },
  "frontend-design": {
    files: 2,
    bytes: 18434,
    tokens: { metadata: 56, instructions: 1991 },
    warnings: ["metadata-tokens"],
  },
  "internal-comms": {
    files: 6,
    bytes: 22393,
    tokens: { metadata: 87, instructions: 275 },
    warnings: ["metadata-tokens"],
  },
  "mcp-builder": {
    files: 10,
    bytes: 121756,
    tokens: { metadata: 73, instructions: 2185 },
    warnings: ["metadata-tokens"],
  },
  "skill-creator": {
    files: 18,
    bytes: 224992,
    tokens: { metadata: 84, instructions: 8157 },
    warnings: ["instructions-tokens", "metadata-tokens"],
  },
  "slack-gif-creator": {
    files: 7,
    bytes: 43697,
    tokens: { metadata: 62, instructions: 1883 },
    warnings: ["metadata-tokens"],
  },
  "theme-factory": {
    files: 13,
    bytes: 144094,
    tokens: { metadata: 70, instructions: 696 },
    warnings: ["description-when", "metadata-tokens"],
  },
  "web-artifacts-builder": {
    files: 5,
    bytes: 45840,
    tokens: { metadata: 78, instructions: 680 },
    warnings: ["metadata-tokens"],
  },
  "webapp-testing": {
    files: 6,
    bytes: 22394,
    tokens: { metadata: 55, instructions: 896 },
    warnings: ["metadata-tokens"],
  },
};

/** The files of a package, below the name of its folder. */
function read(name: string): TestFile[] {
  return readdirSync(join(ROOT, name), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [path.slice(ROOT.length + 1).replaceAll("\\", "/"), new Uint8Array(readFileSync(path))] as const;
    });
}

test("the table has every package", () => {
  assert.equal(readdirSync(ROOT).sort(), Object.keys(PACKAGES));
});

for (const [name, { files, bytes, tokens, errors = [], warnings }] of Object.entries(PACKAGES)) {
  test(`${name}: the validation report has size, tokens, errors and warnings`, async () => {
    const sent = read(name).map(([path, content]) => ({ path, bytes: content as Uint8Array }));
    const report = await reportOn(sent, LIMIT);
    assert.equal(
      [report.valid, report.files, report.size_bytes, report.tokens],
      [errors.length === 0, files, bytes, tokens],
    );
    assert.equal(report.errors.map(({ code, file, line }) => `${code} ${file}:${line}`), errors);
    assert.equal(report.warnings.map(({ code }) => code), warnings);
  });

  if (errors.length > 0) continue;

  test(`${name}: an upload as files or as an archive keeps every byte`, async () => {
    const { upload, service } = await newService();
    const sent = read(name);
    const archive = await zip(sent.map(([path, content]) => ({ name: path, content, method: 8 })));
    const flat = await zip(sent.map(([path, content]) => ({ name: path.slice(name.length + 1), content })));
    for (const form of [sent, [["skill.zip", archive]], [["skill.skill", flat]]] as TestFile[][]) {
      const response = await upload(form);
      const { id, display_name } = await response.json();
      assert.equal([response.status, display_name], [200, name]);
      const loaded = await service.catalog.load(reader, id);
      assert.equal(loaded?.files.toSorted(), sent.map(([path]) => path.slice(name.length + 1)).sort());
      for (const [path, content] of sent) {
        const file = await service.catalog.read(reader, id, path.slice(name.length + 1));
        assert.is(await digestOf(file!.bytes), await digestOf(content as Uint8Array), path);
      }
    }
  });
}

test("an upload of claude-api is refused with both problems in the message and in details", async () => {
  const { upload, store } = await newService();
  const response = await upload(read("claude-api"));
  const { error } = await response.json();
  assert.equal([response.status, error.type], [400, "invalid_request_error"]);
  assert.match(
    error.message,
    /^SKILL\.md line 2: [^;]*'name'[^;]*; SKILL\.md line 3: [^;]*'description'[^;]*1068/,
  );
  assert.equal(
    error.details.problems.map(({ code }: { code: string }) => code),
    ["name-reserved", "description-length"],
  );
  assert.equal(await store.list(["skill"]), []);
});

test("a local folder serves all packages, claude-api with warnings", async () => {
  const { service } = await newService({ folders: [skillFolder(ROOT)] });
  assert.equal((await service.catalog.list(undefined)).skills.map(({ name }) => name), Object.keys(PACKAGES));
  const reported = (await service.diagnostics()).map(({ where, skipped, problems }) => [
    where.slice(where.lastIndexOf("/") + 1),
    skipped,
    problems.map(({ rule }) => rule),
  ]);
  assert.equal(reported, [
    ["claude-api", false, ["name-reserved", "description-length", "instructions-tokens"]],
    ["skill-creator", false, ["instructions-tokens"]],
  ]);
});

test.run();
