/**
 * Large requests to the Skills service: packages with texts, names, parts and archives that a naive reader reads slowly,
 * and long conversations.
 *
 * @module
 */
import { multipart, type TestEntry, type TestFile, zip } from "../../src/skills/test_service.ts";
import { createEmptyDeflateBlocks } from "./deflate_blocks.ts";
import type { Heavy, HeavyKind } from "./heavy_kind.ts";
import { createArray, createBody, createText } from "./heavy_text.ts";
import type { Random } from "./random.ts";

const HEAD = "---\nname: demo\ndescription: Shows it. Use it in tests.\n---\n";
const UPLOADS: readonly string[] = ["/v1/skills", "/v1/skills/validate"];

function createMarkdown(random: Random, size: number): string {
  return random.pick([
    () => HEAD + createText(random, size),
    () => HEAD + `[a](${createText(random, size)})`,
    () => HEAD + "[a](b) ".repeat(size / 7),
    () => HEAD + "```\n".repeat(size / 4),
    () => `---\nname: demo\ndescription: ${createText(random, size).replace(/[\r\n]/g, " ")}\n---\nx`,
    () => `---\nname: ${createText(random, size)}\ndescription: d\n---\nx`,
    () =>
      `---\nname: demo\ndescription: d\nmetadata:\n${
        createArray(size, (i) => `  k${i}: v`, "").replaceAll(",", "\n")
      }\n---\n`,
    () => `---\nname: demo\ndescription: d\nx: ${"[".repeat(size)}\n---\n`,
    () => `---\nname: demo\ndescription: d\nx: ${"{a: ".repeat(size / 4)}\n---\n`,
    () => `---\na: &a [x]\n${createArray(size, (i) => `k${i}: *a`, "").replaceAll(",", "\n")}\n---\n`,
    () => "---\n" + createText(random, size),
    () => createText(random, size),
  ])();
}

function createFiles(random: Random, size: number): TestFile[] {
  const skill: TestFile = ["demo/SKILL.md", HEAD + "Do it.\n"];
  return random.pick<() => TestFile[]>([
    () => [["demo/SKILL.md", createMarkdown(random, size)]],
    () => [["demo/SKILL.md", createMarkdown(random, size)]],
    () => [skill, ["demo/data.txt", createText(random, size)]],
    () => [skill, ["demo/data.bin", new Uint8Array(size)]],
    () => [skill, ...range(size, 100).map((i): TestFile => [`demo/f${i}`, ""])],
    () => [skill, ...range(size, 300).map((i): TestFile => [`../${"a".repeat(150)}${i}/x`, ""])],
    () => [skill, ...range(size, 400).map((i): TestFile => [`demo/${"d/".repeat(100)}${i}`, ""])],
    () => [skill, ...range(size, 130).map((): TestFile => ["demo/same", "x"])],
    () => [skill, ...range(size, 130).map((i): TestFile => [`demo${i}/SKILL.md`, HEAD])],
    () => [skill, ...range(size, 130).map((i): TestFile => [`demo/skill.md${i}`, ""])],
    () => [skill, [`demo/${createText(random, Math.min(size, 100_000)).replace(/["\r\n]/g, "x")}`, "x"]],
  ])();
}

function range(size: number, each: number): number[] {
  return Array.from({ length: Math.ceil(size / each) }, (_, i) => i);
}

/** The body of an upload, and the size of its contents. */
interface Upload {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly type: string;
  readonly files: number;
  readonly unpacked: number;
}

function toMultipart(sent: readonly TestFile[], fields?: Record<string, string>): Upload {
  const unpacked = sent.reduce((sum, [, content]) => sum + content.length * 3, 0);
  return { ...multipart(sent, fields), files: sent.length, unpacked };
}

function toArchiveUpload(archive: Uint8Array<ArrayBuffer>, entries: readonly TestEntry[]): Upload {
  const unpacked = entries.reduce((sum, { content = "" }) => sum + content.length * 3, 0);
  return { ...multipart([["a.zip", archive]]), files: entries.length, unpacked };
}

async function createArchive(random: Random, size: number): Promise<Upload> {
  const skill: TestEntry = { name: "demo/SKILL.md", content: HEAD + "Do it.\n" };
  const entries = random.pick<() => TestEntry[]>([
    () =>
      createFiles(random, size).map(([name, content]) => ({ name, content, method: random.pick([0, 8]) })),
    () => [skill, ...range(size, 200).map((i) => ({ name: `../${"a".repeat(150)}${i}/` }))],
    () => [skill, ...range(size, 110).map((i) => ({ name: `demo/f${i}` }))],
    () => [skill, ...range(size, 110).map((i) => ({ name: `demo/d${i}/` }))],
    () => [skill, { name: "demo/x", extra: new Uint8Array(Math.min(size, 60_000)) }],
    () => [skill, { name: "demo/zeros", content: new Uint8Array(Math.min(size * 8, 8_000_000)), method: 8 }],
  ])();
  return toArchiveUpload(await zip(entries), entries);
}

/** Creates an archive with an entry that is slow to inflate and empty. */
async function createSlowArchive(size: number): Promise<Uint8Array<ArrayBuffer>> {
  const whole = await zip([{ name: "demo/SKILL.md", content: createEmptyDeflateBlocks(size), method: 0 }]);
  // Sets the method of both headers to deflate, and their CRC and uncompressed size to 0.
  const view = new DataView(whole.buffer);
  view.setUint16(8, 8, true);
  view.setUint32(14, 0, true);
  view.setUint32(22, 0, true);
  const central = view.getUint32(whole.length - 6, true);
  view.setUint16(central + 10, 8, true);
  view.setUint32(central + 16, 0, true);
  view.setUint32(central + 24, 0, true);
  return whole;
}

async function createUpload(random: Random, size: number): Promise<Upload> {
  switch (random.below(6)) {
    case 0:
      return toArchiveUpload(await createSlowArchive(size), [{ name: "demo/SKILL.md" }]);
    case 1:
    case 2:
      return await createArchive(random, size);
    case 3:
      return toMultipart(createFiles(random, size), { display_title: createText(random, size) });
    case 4: {
      const upload = toMultipart(createFiles(random, size));
      const { body } = upload;
      body.fill(random.below(256), random.below(body.length), body.length - random.below(30));
      return upload;
    }
    default:
      return toMultipart(createFiles(random, size));
  }
}

function createConversation(random: Random, size: number): string {
  const skills = createArray(Math.min(size, 50_000), (i) => `{"type":"custom","skill_id":"s${i}"}`);
  const block = random.pick([
    () => JSON.stringify({ type: "text", text: createText(random, 500) }),
    () => '{"type":"tool_use","id":"t","name":"load_skill","input":{"name":"demo"}}',
    () => '{"type":"tool_result","tool_use_id":"t","content":[]}',
    () => "{}",
  ])();
  const content = random.oneIn(2) ? createArray(size, block) : JSON.stringify(createText(random, size));
  const messages = random.oneIn(3)
    ? createArray(size, `{"role":"user","content":${JSON.stringify(createText(random, 100))}}`)
    : `[{"role":"user","content":${content}}]`;
  const container = random.oneIn(2) ? `,"container":{"skills":${skills}}` : "";
  return `{"model":"any","max_tokens":16,"messages":${messages}${container}}`;
}

export const heavySkills: HeavyKind = {
  async next(random, { origin, apiKey }): Promise<Heavy> {
    const size = random.pick([1000, 20_000, 200_000, 1_000_000, 7_900_000]);
    const headers = new Headers({ "x-api-key": apiKey, "anthropic-version": "2026-10-21" });
    if (random.oneIn(6)) {
      const text = createConversation(random, size);
      headers.set("content-type", "application/json");
      return {
        endpoint: "/v1/messages",
        kind: "messages",
        label: `${text.slice(0, 200)}…, ${text.length} bytes`,
        bytes: text.length,
        request: () =>
          new Request(
            `${origin}/v1/messages`,
            { method: "POST", headers, ...createBody(random, text) } as RequestInit,
          ),
      };
    }
    if (random.oneIn(8)) {
      const query = new URLSearchParams({
        [random.pick(["page", "limit", "after_id", "source"])]: createText(random, 8000),
      });
      const path = random.pick([
        "",
        "/usage",
        "/skill_01AAAAAAAAAAAAAAAAAAAAAAAA",
        "/x/versions",
        "/x/versions/y/content",
      ]);
      return {
        endpoint: "/v1/skills read",
        kind: path.endsWith("/content") ? "download" : "read",
        label: `${path} ${String(query).slice(0, 100)}`,
        bytes: String(query).length,
        request: () => new Request(`${origin}/v1/skills${path}?${query}`, { headers }),
      };
    }
    const path = random.pick(UPLOADS);
    const { body, type, files, unpacked } = await createUpload(random, size);
    const sent = random.oneIn(10) ? body.subarray(0, random.below(body.length)).slice() : body;
    headers.set("content-type", type);
    return {
      endpoint: path,
      kind: path === "/v1/skills" ? "publish" : "validate",
      files,
      unpacked,
      label: `${
        new TextDecoder().decode(sent.subarray(0, 300)).replace(/[^\x20-\x7e]/g, "?")
      }…, ${sent.length} bytes`,
      bytes: sent.length,
      request: () =>
        new Request(origin + path, { method: "POST", headers, ...createBody(random, sent) } as RequestInit),
    };
  },
};
