import { suite } from "uvu";
import * as assert from "uvu/assert";
import { SKILL_MD } from "../test_service.ts";
import { ask, call, CODE_EXECUTION, json, newMessages, text } from "./test_messages.ts";

const test = suite("skills/messages over several turns");

const VIEW = "text_editor_code_execution";

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
    content: "The instructions of demo were already loaded above. Follow them.",
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
