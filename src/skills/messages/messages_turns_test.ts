import { suite } from "uvu";
import * as assert from "uvu/assert";
import { SKILL_MD } from "../test_service.ts";
import { call, CODE_EXECUTION, createRequest, json, newMessages, text } from "./test_messages.ts";

const test = suite("skills/messages over several turns");

const VIEW = "text_editor_code_execution";

test("results of a skill and of the client's tool go to the model in one user message", async () => {
  const tools = [{ name: "weather", input_schema: { type: "object" } }, CODE_EXECUTION];
  const { send, modelRequests } = newMessages([
    json([
      text("Both."),
      call("toolu_S", "load_skill", { name: "tables" }),
      call("toolu_W", "weather", { at: "sea" }),
    ]),
    json([text("Sunny.")]),
  ]);
  const body = createRequest(["tables"], { tools });
  const first = await send(body);
  assert.is(first.stop_reason, "tool_use");
  assert.equal(first.content.map(({ type }: { type: string }) => type), [
    "text",
    "server_tool_use",
    "tool_use",
    `${VIEW}_tool_result`,
  ]);
  await send({
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
  assert.equal(JSON.parse(modelRequests[1]!.body).messages.slice(1), [
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

test("instructions are not repeated in a conversation, unless the version changed", async () => {
  const { send, upload, modelRequests } = newMessages(
    Array.from(
      { length: 8 },
      (_, at) => () =>
        json(at % 2 === 0 ? [call(`toolu_${at}`, "load_skill", { name: "demo" })] : [text("Done")]),
    ),
  );
  const { id } = await upload([["demo/SKILL.md", SKILL_MD]]);
  const body = createRequest([id]);
  const first = await send(body);
  const turns = [...body.messages as unknown[], { role: "assistant", content: first.content }, {
    role: "user",
    content: "Again",
  }];
  const again = await send({ ...body, messages: turns });
  const { content: note, ...rest } = again.content[1].content;
  assert.equal(rest, {
    type: `${VIEW}_view_result`,
    file_type: "text",
    num_lines: null,
    start_line: null,
    total_lines: null,
  });
  assert.match(note, /demo/);
  assert.not.match(note, /Do it well\./);
  const fresh = await send(body);
  assert.match(fresh.content[1].content.content, /Do it well\./);
  const other = await upload([["demo/SKILL.md", SKILL_MD + "More.\n"]]);
  const changed = await send({ ...createRequest([other.id]), messages: turns });
  assert.match(changed.content[1].content.content, /More\./);
  assert.is(modelRequests.length, 8);
});

test("the last allowed round ends with pause_turn, and the next request continues", async () => {
  const forever = Array.from(
    { length: 5 },
    (_, at) => json([call(`toolu_${at}`, "read_skill_file", { name: "forms", path: `${at}` })]),
  );
  const { send, modelRequests } = newMessages([...forever, json([text("Enough")])], { mostRounds: 5 });
  const body = createRequest(["forms"]);
  const first = await send(body);
  assert.is(first.stop_reason, "pause_turn");
  assert.is(first.content.length, 10);
  assert.is(modelRequests.length, 5);
  const messages = [...body.messages as unknown[], { role: "assistant", content: first.content }];
  const second = await send({ ...body, container: first.container.id, messages });
  assert.equal(second.content, [text("Enough")]);
  const sent = JSON.parse(modelRequests[5]!.body).messages;
  assert.is(sent.length, 11);
  assert.equal(sent.slice(0, 9), JSON.parse(modelRequests[4]!.body).messages);
  assert.is(sent.at(-1).content[0].tool_use_id, "toolu_4");
});

test("max_tokens limits all rounds together", async () => {
  const script = [
    json([call("toolu_1", "load_skill", { name: "forms" })], {
      usage: { input_tokens: 1, output_tokens: 50 },
    }),
  ];
  const short = newMessages(script);
  const cut = await short.send(createRequest(["forms"], { max_tokens: 50 }));
  assert.is(cut.stop_reason, "max_tokens");
  assert.is(cut.content.length, 2);
  const thinking = newMessages([
    json([call("toolu_1", "load_skill", { name: "forms" })], {
      usage: { input_tokens: 1, output_tokens: 50 },
    }),
  ]);
  const paused = await thinking.send(
    createRequest(["forms"], { max_tokens: 2000, thinking: { type: "enabled", budget_tokens: 1990 } }),
  );
  assert.is(paused.stop_reason, "pause_turn");
});

test("a message that max_tokens ended in a call is valid in the next request", async () => {
  const { send, modelRequests } = newMessages([
    json([text("I"), call("toolu_1", "load_skill", { name: "forms" })], { stop_reason: "max_tokens" }),
    json([text("Done")]),
  ]);
  const body = createRequest(["forms"]);
  const { content, stop_reason } = await send(body);
  assert.is(stop_reason, "max_tokens");
  assert.is(content.length, 3);
  const messages = [...body.messages as unknown[], { role: "assistant", content }, {
    role: "user",
    content: "Go on",
  }];
  await send({ ...body, messages });
  const sent = JSON.parse(modelRequests[1]!.body).messages;
  assert.equal(sent.at(-1).content.map(({ type }: { type: string }) => type), ["tool_result", "text"]);
});

test("tool_choice forces a tool in the first round only", async () => {
  const round = () => json([call("toolu_1", "load_skill", { name: "forms" })]);
  const { send, modelRequests } = newMessages([round(), json([text("Done")]), round(), json([text("Done")])]);
  await send(
    createRequest(["forms"], {
      tool_choice: { type: "tool", name: "code_execution", disable_parallel_tool_use: true },
    }),
  );
  await send(createRequest(["forms"], { tool_choice: { type: "any" } }));
  assert.equal(modelRequests.map(({ body }) => JSON.parse(body).tool_choice), [
    { type: "tool", name: "load_skill", disable_parallel_tool_use: true },
    { type: "auto", disable_parallel_tool_use: true },
    { type: "any" },
    { type: "auto" },
  ]);
});

test.run();
