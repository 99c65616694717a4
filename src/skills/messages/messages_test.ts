import { suite } from "uvu";
import * as assert from "uvu/assert";
import { SKILL_MD } from "../test_service.ts";
import { ask, call, CODE_EXECUTION, json, LOCAL, message, newMessages, text } from "./test_messages.ts";

const test = suite("skills/messages");

const VIEW = "text_editor_code_execution";
const FORMS = LOCAL[0]![1].split("---\n")[2]!;

test("a request without container goes to the model endpoint as it came, and so does the answer", async () => {
  const answer = JSON.stringify(message([text("Hi")], { container: null, other: 1 })).replace(":", " :  ");
  const { post, asked } = newMessages([
    new Response(answer, { headers: { "content-type": "application/json" } }),
  ]);
  const body = '{"model" :"any",\n "messages":"whatever", "tools":[{"type":"code_execution_20250825"}]}';
  const response = await post(body, {
    headers: { "anthropic-version": "2023-06-01", "anthropic-beta": "skills-2025-10-02, x" },
  });
  assert.is(response.status, 200);
  assert.is(response.headers.get("content-type"), "application/json");
  assert.is(await response.text(), answer);
  assert.is(asked[0]!.body, body);
  assert.equal(Object.fromEntries(asked[0]!.headers), {
    accept: "application/json",
    "anthropic-beta": "skills-2025-10-02,x",
    "anthropic-version": "2023-06-01",
    "content-type": "application/json",
    "x-api-key": "sk-upstream-secret",
  });
});

test("a skill is listed, loaded and followed within one answer", async () => {
  const { say, asked, idOf } = newMessages([
    json([text("I look."), call("toolu_01A", "load_skill", { name: "forms" })]),
    json([text("Filled.")], { usage: { input_tokens: 100, output_tokens: 7, cache_read_input_tokens: 3 } }),
  ]);
  const answer = await say(ask(["forms"]));
  const id = await idOf("forms");
  const { version } = answer.container.skills[0];
  assert.match(answer.container.id, /^container_01[0-9A-Z]{24}$/);
  assert.match(version, /^skver_/);
  const loaded = `<skill_content name="forms" version="${version}">\n${FORMS.trimEnd()}\n</skill_content>\n` +
    `<skill_files>\n<file bytes="2">logo.bin</file>\n<file bytes="14">references/fields.md</file>\n</skill_files>`;
  assert.equal(answer, {
    ...message([text("Filled.")]),
    content: [
      text("I look."),
      {
        type: "server_tool_use",
        id: "srvtoolu_01A",
        name: VIEW,
        input: { command: "view", path: "/skills/forms/SKILL.md" },
        caller: { type: "direct" },
      },
      {
        type: `${VIEW}_tool_result`,
        tool_use_id: "srvtoolu_01A",
        content: {
          type: `${VIEW}_view_result`,
          file_type: "text",
          content: loaded,
          num_lines: 3,
          start_line: 5,
          total_lines: 7,
        },
      },
      text("Filled."),
    ],
    container: {
      id: answer.container.id,
      expires_at: answer.container.expires_at,
      skills: [{ type: "custom", skill_id: id, version }],
    },
    usage: { input_tokens: 110, output_tokens: 12, cache_read_input_tokens: 3 },
  });
  const [first, second] = asked.map(({ body }) => JSON.parse(body));
  assert.is(first.container, undefined);
  assert.equal(first.tools.map(({ name }: { name: string }) => name), ["load_skill", "read_skill_file"]);
  assert.equal(first.tools[0].input_schema.properties.name.enum, ["forms"]);
  assert.is(first.max_tokens, 4096);
  assert.is(second.max_tokens, 4091);
  assert.equal(second.messages, [
    { role: "user", content: "Fill the form" },
    {
      role: "assistant",
      content: [text("I look."), call("toolu_01A", "load_skill", { name: "forms" })],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_01A", content: loaded }] },
  ]);
});

test("calls of one turn are answered together, each by its own result", async () => {
  const { say, asked } = newMessages([
    json([
      call("toolu_1", "load_skill", { name: "tables" }),
      call("call_2-b", "read_skill_file", {
        name: "forms",
        path: "./references/fields.md",
        offset: 2,
        limit: 1,
      }),
      call("call_2-b", "read_skill_file", { name: "forms", path: "no.md" }),
      call("toolu_4", "load_skill", {}),
      call("toolu_5", "load_skill", { name: "unknown" }),
    ]),
    json([text("Done")]),
  ]);
  const { content } = await say(ask(["forms", "tables"]));
  assert.equal(content.map(({ type }: { type: string }) => type), [
    ...Array(5).fill("server_tool_use"),
    ...Array(5).fill(`${VIEW}_tool_result`),
    "text",
  ]);
  assert.equal(content.slice(0, 5).map(({ id, input }: { id: string; input: unknown }) => [id, input]), [
    ["srvtoolu_1", { command: "view", path: "/skills/tables/SKILL.md" }],
    ["srvtoolu_x_call_5f_2_2d_b", {
      command: "view",
      path: "/skills/forms/references/fields.md",
      view_range: [2, 2],
    }],
    ["srvtoolu_x_call_5f_2_2d_b_5f_2", { command: "view", path: "/skills/forms/no.md" }],
    ["srvtoolu_4", { command: "view", path: "/skills/" }],
    ["srvtoolu_5", { command: "view", path: "/skills/unknown/SKILL.md" }],
  ]);
  const results = JSON.parse(asked[1]!.body).messages.at(-1);
  assert.is(results.role, "user");
  assert.match(results.content[0].content, /Align the columns\./);
  assert.equal(results.content.slice(1), [
    {
      type: "tool_result",
      tool_use_id: "call_2-b",
      content: "two\n[Lines 2 to 2 of 3. Read on with offset 3.]",
    },
    {
      type: "tool_result",
      tool_use_id: "call_2-b_2",
      content: 'There is no "no.md" in forms. Its files: SKILL.md, logo.bin, references/fields.md',
      is_error: true,
    },
    {
      type: "tool_result",
      tool_use_id: "toolu_4",
      content: "The input must have the name of a skill, and the path of a file to read",
      is_error: true,
    },
    {
      type: "tool_result",
      tool_use_id: "toolu_5",
      content: "There is no such skill. There are: forms, tables",
      is_error: true,
    },
  ]);
});

test("the client's own tools are passed through, and what they are called is taken by no other", async () => {
  const own = [
    { name: "load_skill", input_schema: { type: "object" }, cache_control: { type: "ephemeral" } },
    CODE_EXECUTION,
    { name: "weather", description: "…", input_schema: { type: "object" } },
    { ...CODE_EXECUTION, type: "code_execution_20260521" },
  ];
  const { say, asked } = newMessages([
    json([call("toolu_1", "load_skill_2", { name: "forms" })]),
    json([call("toolu_2", "load_skill", { its: "own" })]),
  ]);
  const { content, stop_reason } = await say(ask(["forms"], { tools: own }));
  const { tools, system } = JSON.parse(asked[0]!.body);
  assert.equal(tools.map(({ name }: { name: string }) => name), [
    "load_skill",
    "load_skill_2",
    "read_skill_file",
    "weather",
  ]);
  assert.equal([tools[0], tools[3]], [own[0], own[2]]);
  assert.match(system[0].text, /call load_skill_2 with its name/);
  assert.is(stop_reason, "tool_use");
  assert.equal(content.at(-1), call("toolu_2", "load_skill", { its: "own" }));
});

test("a turn with a skill and a tool of the client's: both get their answers, in one message", async () => {
  const tools = [{ name: "weather", input_schema: { type: "object" } }, CODE_EXECUTION];
  const { say, asked } = newMessages([
    json([
      text("Both."),
      call("toolu_S", "load_skill", { name: "tables" }),
      call("toolu_W", "weather", { at: "sea" }),
    ]),
    json([text("Sunny.")]),
  ]);
  const body = ask(["tables"], { tools });
  const first = await say(body);
  assert.is(first.stop_reason, "tool_use");
  assert.equal(first.content.map(({ type }: { type: string }) => type), [
    "text",
    "server_tool_use",
    "tool_use",
    `${VIEW}_tool_result`,
  ]);
  await say({
    ...body,
    container: first.container.id,
    messages: [
      ...body.messages as unknown[],
      { role: "assistant", content: first.content },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "toolu_W", content: "sun" }, text("And?")],
      },
    ],
  });
  assert.equal(JSON.parse(asked[1]!.body).messages.slice(1), [
    {
      role: "assistant",
      content: [
        text("Both."),
        call("toolu_S", "load_skill", { name: "tables" }),
        call("toolu_W", "weather", { at: "sea" }),
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "toolu_S", content: first.content[3].content.content },
        { type: "tool_result", tool_use_id: "toolu_W", content: "sun" },
        text("And?"),
      ],
    },
  ]);
});

test("instructions that the conversation has are not given again, those of another version are", async () => {
  const { say, upload, asked } = newMessages(
    Array.from(
      { length: 8 },
      (_, at) => () =>
        json(at % 2 === 0 ? [call(`toolu_${at}`, "load_skill", { name: "demo" })] : [text("Done")]),
    ),
  );
  const { id } = await upload([["demo/SKILL.md", SKILL_MD]]);
  const body = ask([id]);
  const first = await say(body);
  const turns = [...body.messages as unknown[], { role: "assistant", content: first.content }, {
    role: "user",
    content: "Again",
  }];
  const again = await say({ ...body, messages: turns });
  assert.equal(again.content[1].content, {
    type: `${VIEW}_view_result`,
    file_type: "text",
    content: "The instructions of demo are above already: follow them.",
    num_lines: null,
    start_line: null,
    total_lines: null,
  });
  const fresh = await say(body);
  assert.match(fresh.content[1].content.content, /Do it well\./);
  const other = await upload([["demo/SKILL.md", SKILL_MD + "More.\n"]]);
  const changed = await say({ ...ask([other.id]), messages: turns });
  assert.match(changed.content[1].content.content, /More\./);
  assert.is(asked.length, 8);
});

test("a model that asks on and on is paused, and goes on where it was", async () => {
  const forever = Array.from(
    { length: 5 },
    (_, at) => json([call(`toolu_${at}`, "read_skill_file", { name: "forms", path: `${at}` })]),
  );
  const { say, asked } = newMessages([...forever, json([text("Enough")])], { mostRounds: 5 });
  const body = ask(["forms"]);
  const first = await say(body);
  assert.is(first.stop_reason, "pause_turn");
  assert.is(first.content.length, 10);
  assert.is(asked.length, 5);
  const messages = [...body.messages as unknown[], { role: "assistant", content: first.content }];
  const second = await say({ ...body, container: first.container.id, messages });
  assert.equal(second.content, [text("Enough")]);
  const sent = JSON.parse(asked[5]!.body).messages;
  assert.is(sent.length, 11);
  assert.equal(sent.slice(0, 9), JSON.parse(asked[4]!.body).messages);
  assert.is(sent.at(-1).content[0].tool_use_id, "toolu_4");
});

test("max_tokens holds for the whole answer", async () => {
  const script = [
    json([call("toolu_1", "load_skill", { name: "forms" })], {
      usage: { input_tokens: 1, output_tokens: 50 },
    }),
  ];
  const short = newMessages(script);
  const cut = await short.say(ask(["forms"], { max_tokens: 50 }));
  assert.is(cut.stop_reason, "max_tokens");
  assert.is(cut.content.length, 2);
  const thinking = newMessages([
    json([call("toolu_1", "load_skill", { name: "forms" })], {
      usage: { input_tokens: 1, output_tokens: 50 },
    }),
  ]);
  const paused = await thinking.say(
    ask(["forms"], { max_tokens: 2000, thinking: { type: "enabled", budget_tokens: 1990 } }),
  );
  assert.is(paused.stop_reason, "pause_turn");
});

test("an answer that was cut off within a call is an answer that can be sent back", async () => {
  const { say, asked } = newMessages([
    json([text("I"), call("toolu_1", "load_skill", { name: "forms" })], { stop_reason: "max_tokens" }),
    json([text("Done")]),
  ]);
  const body = ask(["forms"]);
  const { content, stop_reason } = await say(body);
  assert.is(stop_reason, "max_tokens");
  assert.is(content.length, 3);
  const messages = [...body.messages as unknown[], { role: "assistant", content }, {
    role: "user",
    content: "Go on",
  }];
  await say({ ...body, messages });
  const sent = JSON.parse(asked[1]!.body).messages;
  assert.equal(sent.at(-1).content.map(({ type }: { type: string }) => type), ["tool_result", "text"]);
});

test("who is told to use a tool is told so once", async () => {
  const round = () => json([call("toolu_1", "load_skill", { name: "forms" })]);
  const { say, asked } = newMessages([round(), json([text("Done")]), round(), json([text("Done")])]);
  await say(
    ask(["forms"], {
      tool_choice: { type: "tool", name: "code_execution", disable_parallel_tool_use: true },
    }),
  );
  await say(ask(["forms"], { tool_choice: { type: "any" } }));
  assert.equal(asked.map(({ body }) => JSON.parse(body).tool_choice), [
    { type: "tool", name: "load_skill", disable_parallel_tool_use: true },
    { type: "auto", disable_parallel_tool_use: true },
    { type: "any" },
    { type: "auto" },
  ]);
});

test.run();
