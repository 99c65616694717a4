import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { SkillList } from "./skill_list.ts";
import { skillDefinitions, type SkillSource } from "./skills.ts";
import { assertLoopIsFree } from "../../http/test_loop_watchdog.ts";
import { modern } from "../test_exchange.ts";
import { newServer } from "../test_server.ts";

const test = suite("mcp/skills");

async function list(
  skills: SkillList["skills"],
  omitted: Partial<SkillList["omitted"]> = {},
): Promise<string> {
  const source: SkillSource = {
    list: () => Promise.resolve({ skills, omitted: { shadowed: 0, older: false, ...omitted } }),
    load: () => Promise.resolve(undefined),
    read: () => Promise.resolve(undefined),
    page: () => Promise.resolve({ entries: [], next: undefined }),
    find: () => Promise.resolve(undefined),
  };
  const { server } = newServer({ definitions: skillDefinitions(source, []) });
  const { answer } = await modern(server, "tools/call", { name: "list_skills", arguments: {} });
  return answer.result.content[0].text;
}

const skill = (name: string, description: string) => ({
  id: `skill_${name}`,
  name,
  description,
  source: "custom",
});

test("each skill has one line, in the order of the source", async () => {
  assert.is(
    await list([skill("b", "Two.\nLines"), skill("a", "  - not another: entry ")]),
    "- b: Two. Lines\n- a: - not another: entry",
  );
  const empty = await list([]);
  assert.ok(empty !== "" && !empty.startsWith("-"), empty);
});

test("after 40,000 characters the list has only names, with a note", async () => {
  const skills = Array.from({ length: 50 }, (_, i) => skill(`s${i}`, "x".repeat(1000)));
  const lines = (await list(skills)).split("\n");
  assert.is(lines.length, 40);
  assert.is(lines[38], `- s38: ${"x".repeat(1000)}`);
  const rest = Array.from({ length: 11 }, (_, i) => `s${39 + i}`).join(", ");
  assert.match(lines[39]!, /^11\b/);
  assert.ok(lines[39]!.endsWith(`: ${rest}`));
});

test("the list states what the source omitted", async () => {
  const linesOf = async (omitted: Partial<SkillList["omitted"]>) =>
    (await list([skill("a", "A")], omitted)).split("\n");
  const [entry, shadowed, older, ...more] = await linesOf({ shadowed: 3, older: true });
  assert.equal([entry, more], ["- a: A", []]);
  assert.match(shadowed!, /\b3\b/);
  assert.not.match(older!, /\d/);
  assert.equal(await linesOf({ shadowed: 3 }), [entry, shadowed]);
  assert.equal(await linesOf({ older: true }), [entry, older]);
  assert.equal(await linesOf({}), [entry]);
});

/** A server with one skill that has these files; its instructions follow `before` lines. */
function serve(files: Readonly<Record<string, string | Uint8Array>>, instructions = "Do it.", before = 0) {
  const contents = new Map(
    Object.entries(files).map(([path, content]) => [
      path,
      typeof content === "string" ? new TextEncoder().encode(content) : content,
    ]),
  );
  const bytesOf = (path: string): Uint8Array | undefined => contents.get(path);
  const contentOf = (path: string) => {
    const bytes = bytesOf(path);
    return Promise.resolve(bytes && { bytes, mediaType: "text/plain", place: ["a"] });
  };
  const entry = {
    path: ["a"],
    frontMatter: { name: "a", description: "A" },
    isPublic: true,
    files: () => Promise.resolve([]),
    read: contentOf,
  };
  const source: SkillSource = {
    list: () => Promise.resolve({ skills: [], omitted: { shadowed: 0, older: false } }),
    load: () =>
      Promise.resolve({
        id: "a",
        name: "a",
        description: "A",
        instructions,
        files: Object.keys(files),
        linesBefore: () => Promise.resolve(before),
      }),
    read: (_, __, path) => contentOf(path),
    page: () => Promise.resolve({ entries: [entry], next: undefined }),
    find: (_, path) => Promise.resolve({ entry, rest: path.slice(1) }),
  };
  const { server } = newServer({ definitions: skillDefinitions(source, []) });
  const call = async (name: string, input: Record<string, unknown>) =>
    (await modern(server, "tools/call", { name, arguments: { name: "a", ...input } })).answer.result;
  return {
    server,
    call,
    read: async (path: string, lines: Record<string, number> = {}): Promise<string> =>
      (await call("read_skill_file", { path, ...lines })).content[0].text,
  };
}

test("a file can be read in parts by offset and limit", async () => {
  const { read, call } = serve({ "a.md": "1\n2\n3\n4\n", "empty.md": "" });
  assert.is(await read("empty.md"), "");
  assert.is(await read("a.md", { offset: 4 }), "4\n");
  assert.match(await read("a.md", { offset: 2, limit: 2 }), /^2\n3\n\[.*\b4\.\]$/);
  for (const lines of [{ offset: 5 }, { offset: 0 }, { limit: 0 }, { offset: 1.5 }]) {
    assert.is((await call("read_skill_file", { path: "a.md", ...lines })).isError, true);
  }
});

test("a file that is read whole is exactly that file", async () => {
  const big = "漢字\n".repeat(15_000);
  const texts = ["", "\n", "\n\n", "a", "a\n", "a\r\nb\r\n", "\ufeffa\n", "\ufeff", "a\n\ufeffb\n\n", big];
  for (const text of texts) assert.is(await serve({ "a.md": text }).read("a.md"), text);
});

test("a long file is truncated at a line, and its notes lead to its end", async () => {
  const lines = Array.from({ length: 9000 }, (_, at) => `line ${at + 1}`);
  const { read } = serve({ "a.md": lines.join("\n") });
  const all: string[] = [];
  for (let offset: number | undefined = 1; offset !== undefined;) {
    const text: string = await read("a.md", { offset });
    assert.ok(text.length <= 50_100);
    const shown = text.split("\n");
    const [, next]: (string | undefined)[] = /^\[.*\b9000\b\D+(\d+)\.\]$/.exec(shown.at(-1)!) ?? [];
    if (next !== undefined) shown.pop();
    all.push(...shown);
    offset = next === undefined ? undefined : Number(next);
  }
  assert.equal(all, lines);
});

test("truncated instructions continue in SKILL.md at the stated offset", async () => {
  const body = Array.from({ length: 20_000 }, (_, at) => `line ${at + 1}\n`).join("");
  const { call, read, server } = serve({ "SKILL.md": `---\nname: a\n---\n${body}` }, body, 3);
  const { text } = (await call("load_skill", {})).content[0];
  const { messages } = (await modern(server, "prompts/get", {
    name: "use_skill",
    arguments: { skill: "a", task: "x" },
  })).answer.result;
  for (const each of [text, messages[0].content.text]) {
    assert.ok(each.length < 101_000);
    const [, last, offset] = /line (\d+)\n\n\[.*SKILL\.md\D+(\d+)\.\]/.exec(each)!;
    assert.ok((await read("SKILL.md", { offset: Number(offset) })).startsWith(`line ${Number(last) + 1}\n`));
  }
});

test("load_skill lists paths up to a number of characters, and counts the rest", async () => {
  const names = Array.from({ length: 2000 }, (_, i) => `${"x".repeat(97)}${i + 1000}`);
  const { call } = serve(Object.fromEntries(names.map((name) => [name, "x"])));
  const lines = (await call("load_skill", {})).content[0].text.split("\n");
  const shown = lines.filter((line: string) => line.startsWith("- ")).length;
  assert.ok(shown > 400 && shown < 600);
  assert.match(lines.at(-1), new RegExp(`\\b${2000 - shown}\\b`));
});

test("attack: a file of 8 MB is never sent in one message", async () => {
  const size = 8 * 1024 * 1024;
  const { call, server } = serve({
    "ends.md": "\n".repeat(size),
    "line.md": "漢".repeat(size / 4),
    "a.bin": new Uint8Array(size),
    "b.bin": new Uint8Array(1024 * 1024),
  });
  for (const path of ["ends.md", "line.md"]) {
    let result: { content: [{ text: string }] } | undefined;
    await assertLoopIsFree(async () => result = await call("read_skill_file", { path }));
    assert.ok(result!.content[0].text.length < 51_000);
  }
  assert.is((await call("read_skill_file", { path: "a.bin" })).isError, true);
  assert.is((await call("read_skill_file", { path: "b.bin" })).content[0].type, "resource");
  for (const path of ["ends.md", "line.md", "a.bin"]) {
    const uri = `skill://a/${path}`;
    const { error } = (await modern(server, "resources/read", { uri })).answer;
    assert.equal([error.code, error.data], [-32602, { uri }]);
  }
  assert.ok((await modern(server, "resources/read", { uri: "skill://a/b.bin" })).answer.result);
});

test.run();
