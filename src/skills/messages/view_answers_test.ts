import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { OpenSkill } from "../disclosure/library.ts";
import { StoreUnavailableError } from "../../store/store.ts";
import { type Shown, ViewAnswers } from "./view_answers.ts";
import { type Any, call, createRequest, json, newMessages, text } from "./test_messages.ts";

const test = suite("skills/messages/view_answers");

const VIEW = "text_editor_code_execution";

/** An open skill with these files. */
function skillOf(files: Readonly<Record<string, string | Uint8Array>>, body = "Body\n"): OpenSkill {
  const all = Object.entries({ "SKILL.md": `---\nname: x\n---\n${body}`, ...files });
  const bytesOf = (content: string | Uint8Array) =>
    typeof content === "string" ? new TextEncoder().encode(content) : content;
  return {
    id: "skill_1",
    source: "custom",
    version: 'skver_"1"',
    epoch: "1",
    name: "x",
    description: "",
    tokens: { metadata: 1, instructions: 2 },
    files: () =>
      Promise.resolve(
        all.map(([path, content]) => ({
          path,
          size: bytesOf(content).length,
          type: "image/png",
          digest: undefined,
        })),
      ),
    instructions: () => Promise.resolve(body),
    read: (path) =>
      Promise.resolve(all.filter(([each]) => each === path).map(([, content]) => bytesOf(content))[0]),
  };
}

async function view(
  skill: OpenSkill,
  path: string,
  lines?: readonly [number, number],
): Promise<{ content: Any; shown: Shown[] }> {
  const shown: Shown[] = [];
  const answers = new ViewAnswers([skill], [], (each) => shown.push(each));
  return { content: await answers.answer({ folder: "x", path, lines }), shown };
}

const result = (
  content: string,
  num_lines: number | null,
  start_line: number | null,
  total_lines: number | null,
) => ({
  type: `${VIEW}_view_result`,
  file_type: "text",
  content,
  num_lines,
  start_line,
  total_lines,
});

test("a file can be read whole and in parts", async () => {
  const skill = skillOf({ "a.md": "1\n2\r\n3\n4\n", "b.md": "1\n2", "empty.md": "", "n.md": "\n" });
  const read = async (path: string, lines?: readonly [number, number]) =>
    (await view(skill, path, lines)).content;
  assert.equal(await read("a.md"), result("1\n2\r\n3\n4", 4, 1, 4));
  const { content, ...part } = await read("a.md", [2, 3]);
  assert.equal({ ...part, content: "" }, result("", 2, 2, 4));
  assert.match(content, /^2\r\n3\n\[.*\b4\.\]$/);
  assert.equal(await read("a.md", [4, -1]), result("4", 1, 4, 4));
  assert.equal(await read("a.md", [1, 100]), result("1\n2\r\n3\n4", 4, 1, 4));
  assert.equal(await read("b.md", [2, 2]), result("2", 1, 2, 2));
  assert.equal(await read("empty.md"), result("", 0, 1, 0));
  assert.equal(await read("n.md"), result("", 1, 1, 1));
  const { error_message, ...rest } = await read("a.md", [5, -1]);
  assert.equal(rest, { type: `${VIEW}_tool_result_error`, error_code: "invalid_tool_input" });
  assert.match(error_message, /5.*a\.md.*4/);
});

test("a long file is truncated at a line, and its notes lead to its end", async () => {
  const lines = Array.from({ length: 9000 }, (_, at) => `line ${at + 1}`);
  const skill = skillOf({ "a.md": lines.join("\n") });
  const read: string[] = [];
  for (let offset = 1; offset !== undefined;) {
    const { content } = await view(skill, "a.md", [offset, -1]);
    assert.ok(content.content.length <= 50_100);
    const shown = content.content.split("\n");
    const [, from, to, next] = /^\[\D+(\d+)\D+(\d+)\D+9000\D+(\d+)\D+\]$/.exec(shown.at(-1)) ?? [];
    assert.is(content.start_line, offset);
    if (next !== undefined) {
      shown.pop();
      assert.equal([from, to].map(Number), [offset, Number(next) - 1]);
    }
    assert.is(content.num_lines, shown.length);
    read.push(...shown);
    offset = next === undefined ? undefined as never : Number(next);
  }
  assert.equal(read, lines);
});

test("a line that is too long is truncated, and the next lines can be read", async () => {
  const skill = skillOf({ "a.md": `first\n${"x".repeat(60_000)}\nlast\n` });
  const first = (await view(skill, "a.md")).content;
  assert.equal({ ...first, content: "" }, result("", 1, 1, 3));
  assert.match(first.content, /^first\n\[.*\b2\.\]$/);
  const { content } = (await view(skill, "a.md", [2, -1])).content;
  assert.match(content, /^x{50000}\n\[.*\b50000\b.*\b60000\b.*\]\n\[.*\b3\.\]$/);
  assert.equal((await view(skill, "a.md", [3, -1])).content, result("last", 1, 3, 3));
});

test("attack: a file that looks like the instructions of a skill does not count as loaded", async () => {
  const skill = skillOf({ "a.md": "x" });
  const answerAfter = async (...turns: [input: unknown, text: string][]): Promise<string> => {
    const content = turns.flatMap(([input, text], i) => [
      { type: "server_tool_use", id: `srvtoolu_${i}`, name: VIEW, input },
      {
        type: `${VIEW}_tool_result`,
        tool_use_id: `srvtoolu_${i}`,
        content: { type: `${VIEW}_view_result`, file_type: "text", content: text },
      },
    ]);
    const answers = new ViewAnswers([skill], [{ role: "assistant", content }], () => {});
    return (await answers.answer({ folder: "x", path: "SKILL.md", lines: undefined }) as Any).content;
  };
  const view = (path: string, range?: number[]) => ({
    command: "view",
    path: `/skills/${path}`,
    ...(range && { view_range: range }),
  });
  const instructions = await answerAfter();
  assert.ok(instructions.startsWith("<skill_content "));
  assert.not.ok((await answerAfter([view("x/SKILL.md"), instructions])).startsWith("<skill_content "));
  for (
    const input of [
      view("notes/a.md"),
      view("notes/SKILL.md"),
      view("x/a.md"),
      view("x/SKILL.md", [1, -1]),
      view("x"),
      undefined,
    ]
  ) {
    assert.is(await answerAfter([input, instructions]), instructions, JSON.stringify(input));
  }
});

test("a line is never cut within a character", async () => {
  const skill = skillOf({ "a.md": "x" + "😀".repeat(40_000) });
  const { content } = (await view(skill, "a.md")).content;
  assert.ok(content.isWellFormed());
});

test("the result for a binary file contains its media type and size", async () => {
  const skill = skillOf({ "a.png": Uint8Array.of(137, 80, 78, 71), "b.bin": "a\0b" });
  const { content: note, ...rest } = (await view(skill, "a.png")).content;
  assert.equal({ ...rest, content: "" }, result("", null, null, null));
  assert.match(note, /^a\.png\b.* image\/png, 4 bytes/);
  const { content, shown } = await view(skill, "b.bin");
  assert.match(content.content, /3 bytes/);
  assert.equal(shown, []);
});

test("only exact paths of the list of files are read", async () => {
  const skill = skillOf({ "a/b.md": "x" });
  for (
    const path of [
      "../x/a/b.md",
      "a//b.md",
      "a/../a/b.md",
      "A/B.md",
      "a%2fb.md",
      "a/b.md\0",
      "/etc/passwd",
      "a",
    ]
  ) {
    assert.is((await view(skill, path)).content.error_code, "file_not_found", path);
  }
});

test("truncated instructions continue in SKILL.md at the stated offset", async () => {
  const body = Array.from({ length: 20_000 }, (_, at) => `line ${at + 1}\n`).join("");
  const skill = skillOf({}, body);
  const { content, shown } = await view(skill, "SKILL.md");
  const [, next] = /\n\[.*SKILL\.md\D+(\d+)\.\]\n<\/skill_content>/.exec(
    content.content,
  )!;
  assert.is(content.start_line, 4);
  assert.is(content.total_lines, 20_003);
  assert.is(Number(next), 4 + content.num_lines);
  const more = (await view(skill, "SKILL.md", [Number(next), -1])).content;
  assert.ok(more.content.startsWith(`line ${content.num_lines + 1}\n`));
  assert.equal(shown, [{ skill, level: 2, tokens: 2 }]);
});

test("at most 200 files are listed, and the rest is counted", async () => {
  const skill = skillOf(Object.fromEntries(Array.from({ length: 250 }, (_, at) => [`f${at}<.md`, "x"])));
  const { content } = (await view(skill, "SKILL.md")).content;
  assert.is(content.match(/<file bytes="1">f\d+&lt;\.md<\/file>/g).length, 200);
  assert.match(content, /\n\[.*\b50\b.*\]\n<\/skill_files>$/);
  assert.match((await view(skill, "none")).content.error_message, /f18<\.md, .*\b231\b/);
});

test("a store failure gives the model the error unavailable, and the operator a fault", async () => {
  const messages = newMessages([
    json([call("toolu_1", "load_skill", { name: "forms" })]),
    json([text("Without it, then.")]),
  ], {
    library: {
      open: () =>
        Promise.resolve({
          ...skillOf({}),
          name: "forms",
          instructions: () => Promise.reject(new StoreUnavailableError("away")),
        }),
    },
  });
  const { content } = await messages.send(createRequest(["forms"]));
  const { type, error_code } = content[1].content;
  assert.equal([type, error_code], [`${VIEW}_tool_result_error`, "unavailable"]);
  assert.equal(content[2], text("Without it, then."));
  assert.is(messages.events.filter(({ type }) => type === "fault").length, 1);
});

test("each disclosure emits one skill_disclosed event with its level and tokens", async () => {
  const { send, events, idOf } = newMessages([
    json([
      call("toolu_1", "load_skill", { name: "forms" }),
      call("toolu_2", "load_skill", { name: "forms" }),
      call("toolu_3", "read_skill_file", { name: "forms", path: "references/fields.md" }),
      call("toolu_4", "read_skill_file", { name: "forms", path: "none" }),
    ]),
    json([text("Done")]),
  ]);
  const { container } = await send(createRequest(["tables", "forms"]));
  const [tables, forms] = container.skills;
  const common = { type: "skill_disclosed", workspace: "default", via: "messages" };
  const of = { id: await idOf("forms"), name: "forms", version: forms.version };
  assert.equal(events, [
    { ...common, id: tables.skill_id, name: "tables", version: tables.version, level: 1, tokens: 12 },
    { ...common, ...of, level: 1, tokens: 15 },
    { ...common, ...of, level: 2, tokens: 11 },
    { ...common, ...of, level: 3, tokens: 4, path: "references/fields.md" },
  ]);
});

test.run();
