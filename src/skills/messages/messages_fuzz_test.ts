import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createRandom } from "../../http/test_random.ts";
import {
  call,
  CODE_EXECUTION,
  createRequest,
  json,
  message,
  newMessages,
  split,
  sse,
  streamText,
  text,
} from "./test_messages.ts";

const test = suite("skills/messages with mutated input");

const ODD: readonly unknown[] = [
  null,
  true,
  -1,
  1e21,
  "",
  "\ud800",
  "container_01AAAAAAAAAAAAAAAAAAAAAAAA",
  "__proto__",
  [],
  [null],
  {},
  { type: "text" },
  { type: "tool_use", id: 5, name: "load_skill", input: "x" },
  { type: "text_editor_code_execution_tool_result", tool_use_id: "srvtoolu_1", content: null },
  { command: "view", path: "/skills/forms/SKILL.md", view_range: [1e9, -5] },
];

/** The value with some parts replaced, removed or repeated. */
function mutate(value: unknown, random: (below: number) => number): unknown {
  if (random(60) === 0) return ODD[random(ODD.length)];
  if (Array.isArray(value)) {
    return value.flatMap((each) => {
      const changed = mutate(each, random);
      const fate = random(40);
      return fate === 0 ? [] : fate === 1 ? [changed, changed] : [changed];
    });
  }
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(() => random(60) > 0);
  return Object.fromEntries(entries.map(([name, member]) => [name, mutate(member, random)]));
}

const CONVERSATION = createRequest(["forms", "tables"], {
  system: [{ ...text("Be brief."), cache_control: { type: "ephemeral" } }],
  tools: [{ name: "weather", input_schema: { type: "object" } }, CODE_EXECUTION],
  tool_choice: { type: "any" },
  messages: [
    { role: "user", content: "Fill the form" },
    {
      role: "assistant",
      content: [
        text("I look."),
        {
          type: "server_tool_use",
          id: "srvtoolu_1",
          name: "text_editor_code_execution",
          input: { command: "view", path: "/skills/forms/references/fields.md", view_range: [1, -1] },
        },
        {
          type: "text_editor_code_execution_tool_result",
          tool_use_id: "srvtoolu_1",
          content: { type: "text_editor_code_execution_view_result", file_type: "text", content: "one" },
        },
        call("toolu_2", "weather", {}),
      ],
    },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "toolu_2", content: "sun" }, text("And form")],
    },
  ],
});

test("mutated requests get 200, 400 or 404 and cause no fault", async () => {
  const random = createRandom(1);
  const { post, events } = newMessages();
  const counts = new Map<number, number>();
  for (let time = 0; time < 800; time++) {
    const body = JSON.stringify(mutate(CONVERSATION, random));
    const response = await post(body);
    const text = await response.text();
    assert.ok([200, 400, 404].includes(response.status), `${response.status} ${text} for ${body}`);
    counts.set(response.status, (counts.get(response.status) ?? 0) + 1);
  }
  assert.ok(counts.get(200)! > 20 && counts.get(400)! > 20, JSON.stringify([...counts]));
  assert.equal(events.filter(({ type }) => type === "fault"), []);
});

test("mutated model responses end with 200 or 502", async () => {
  const random = createRandom(2);
  const good = message([
    { type: "thinking", thinking: "…", signature: "x" },
    call("toolu_1", "load_skill", { name: "forms" }),
    call("toolu_2", "read_skill_file", { name: "forms", path: "references/fields.md", offset: 1 }),
  ]);
  const statuses = new Set<number>();
  for (let time = 0; time < 300; time++) {
    const answer = () => Response.json(mutate(good, random));
    const { post, events } = newMessages([answer, answer, answer, () => json([text("Done")])], {
      mostRounds: 4,
    });
    const response = await post(createRequest(["forms"]));
    statuses.add(response.status);
    assert.ok([200, 502].includes(response.status), String(response.status));
    JSON.parse(await response.text());
    assert.equal(events.filter((event) => event.type === "fault"), []);
  }
  assert.equal([...statuses].sort(), [200, 502]);
});

test("mutated model streams end with message_stop or an error event", async () => {
  const random = createRandom(3);
  const events = streamText([text("abc"), call("toolu_1", "load_skill", { name: "forms" })]).split("\n\n")
    .slice(0, -1);
  const ends = new Set<string>();
  for (let time = 0; time < 300; time++) {
    const answer = () => {
      const mutated = events.flatMap((event) => {
        const fate = random(30);
        if (fate === 0) return [];
        if (fate < 3) return [event, event];
        if (fate > 6) return [event];
        const [name, data] = event.split("\ndata: ");
        return [`${name}\ndata: ${JSON.stringify(mutate(JSON.parse(data!), random))}`];
      });
      return sse(split(mutated.join("\n\n") + "\n\n", 1 + random(200)));
    };
    const { post } = newMessages([answer, answer, answer], { mostRounds: 3 });
    const response = await post(createRequest(["forms"], { stream: true }));
    const [, last] = /event: (\w+)\ndata: [^\n]*\n\n$/.exec(await response.text())!;
    ends.add(last!);
  }
  assert.equal([...ends].sort(), ["error", "message_stop"]);
});

test.run();
