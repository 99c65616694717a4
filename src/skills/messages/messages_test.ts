import { suite } from "uvu";
import * as assert from "uvu/assert";
import {
  type Any,
  call,
  CODE_EXECUTION,
  createRequest,
  json,
  LOCAL,
  message,
  newMessages,
  text,
} from "./test_messages.ts";

const test = suite("skills/messages");

const VIEW = "text_editor_code_execution";
const FORMS = LOCAL[0]![1].split("---\n")[2]!;

test("a request without container and its response are forwarded unchanged", async () => {
  const answer = JSON.stringify(message([text("Hi")], { container: null, other: 1 })).replace(":", " :  ");
  const { post, modelRequests } = newMessages([
    new Response(answer, { headers: { "content-type": "application/json" } }),
  ]);
  const body = '{"model" :"any",\n "messages":"any", "tools":[{"type":"code_execution_20250825"}]}';
  const response = await post(body, {
    headers: { "anthropic-version": "2023-06-01", "anthropic-beta": "skills-2025-10-02, x" },
  });
  assert.is(response.status, 200);
  assert.is(response.headers.get("content-type"), "application/json");
  assert.is(await response.text(), answer);
  assert.is(modelRequests[0]!.body, body);
  assert.equal(Object.fromEntries(modelRequests[0]!.headers), {
    accept: "application/json",
    "anthropic-beta": "skills-2025-10-02,x",
    "anthropic-version": "2023-06-01",
    "content-type": "application/json",
    "x-api-key": "sk-upstream-secret",
  });
});

test("a skill is listed, loaded and followed within one message", async () => {
  const { send, modelRequests, idOf } = newMessages([
    json([text("I look."), call("toolu_01A", "load_skill", { name: "forms" })]),
    json([text("Filled.")], { usage: { input_tokens: 100, output_tokens: 7, cache_read_input_tokens: 3 } }),
  ]);
  const answer = await send(createRequest(["forms"]));
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
  const [first, second] = modelRequests.map(({ body }) => JSON.parse(body));
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

test("parallel calls get one result each, in one user message", async () => {
  const { send, modelRequests } = newMessages([
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
  const { content } = await send(createRequest(["forms", "tables"]));
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
  const results = JSON.parse(modelRequests[1]!.body).messages.at(-1);
  assert.is(results.role, "user");
  assert.match(results.content[0].content, /Align the columns\./);
  const failed = content.slice(7, 10).map(({ content }: Any) => content);
  assert.equal(failed.map(({ error_code }: Any) => error_code), [
    "file_not_found",
    "invalid_tool_input",
    "file_not_found",
  ]);
  assert.match(failed[0].error_message, /"no\.md".*forms.*SKILL\.md, logo\.bin, references\/fields\.md/);
  assert.match(failed[2].error_message, /forms, tables/);
  assert.equal(results.content.slice(1), [
    { type: "tool_result", tool_use_id: "call_2-b", content: content[6].content.content },
    ...["call_2-b_2", "toolu_4", "toolu_5"].map((tool_use_id, at) => ({
      type: "tool_result",
      tool_use_id,
      content: failed[at].error_message,
      is_error: true,
    })),
  ]);
  assert.match(content[6].content.content, /^two\n/);
});

test("the client's tools are unchanged, and Trivet's tools get other names", async () => {
  const own = [
    { name: "load_skill", input_schema: { type: "object" }, cache_control: { type: "ephemeral" } },
    CODE_EXECUTION,
    { name: "weather", description: "…", input_schema: { type: "object" } },
    { ...CODE_EXECUTION, type: "code_execution_20260521" },
  ];
  const { send, modelRequests } = newMessages([
    json([call("toolu_1", "load_skill_2", { name: "forms" })]),
    json([call("toolu_2", "load_skill", { its: "own" })]),
  ]);
  const { content, stop_reason } = await send(createRequest(["forms"], { tools: own }));
  const { tools, system } = JSON.parse(modelRequests[0]!.body);
  assert.equal(tools.map(({ name }: { name: string }) => name), [
    "load_skill",
    "load_skill_2",
    "read_skill_file",
    "weather",
  ]);
  assert.equal([tools[0], tools[3]], [own[0], own[2]]);
  assert.match(system[0].text, /\bload_skill_2\b/);
  assert.is(stop_reason, "tool_use");
  assert.equal(content.at(-1), call("toolu_2", "load_skill", { its: "own" }));
});

test.run();
