import { suite } from "uvu";
import * as assert from "uvu/assert";
import { countBreakpoints, readCatalogue, writeCatalogue } from "./catalogue.ts";
import { checkBody } from "./request.ts";
import { type Any, ask, call, CODE_EXECUTION, json, newMessages, text } from "./test_messages.ts";

const test = suite("skills/messages and prompt caches");

const EPHEMERAL = { type: "ephemeral" };
const marked = (said: string, cache_control: unknown = EPHEMERAL): Any => ({ ...text(said), cache_control });

async function sent(more: Any, skills = ["forms", "tables"]): Promise<Any> {
  const { say, asked } = newMessages([json([text("Hi")])]);
  await say(ask(skills, more));
  return JSON.parse(asked[0]!.body);
}

test("the same request is the same bytes, on every instance", async () => {
  const bodies: string[] = [];
  for (let time = 0; time < 3; time++) {
    const { say, asked } = newMessages([json([text("Hi")]), json([text("Hi")])]);
    const { container } = await say(ask(["forms", "tables"]));
    await say(ask([], { container: container.id }));
    bodies.push(...asked.map(({ body }) => body));
  }
  assert.is(new Set(bodies).size, 1);
});

test("skills are listed in the order of the request", async () => {
  const names = async (skills: string[]) => {
    const { system, tools } = await sent({}, skills);
    const listed = readCatalogue(system[0].text).map(({ name }) => name);
    assert.equal(tools[0].input_schema.properties.name.enum, listed);
    return listed;
  };
  assert.equal(await names(["forms", "tables"]), ["forms", "tables"]);
  assert.equal(await names(["tables", "forms"]), ["tables", "forms"]);
});

test("what a model was sent within an answer begins what it is sent when the client comes back", async () => {
  const tools = [{ name: "weather", input_schema: { type: "object" } }, CODE_EXECUTION];
  const { say, asked } = newMessages([
    json([
      { type: "thinking", thinking: "…", signature: "c2ln" },
      text("I look."),
      call("toolu_1", "load_skill", { name: "forms" }),
      call("call-2", "read_skill_file", { path: "references/fields.md", name: "forms", limit: 2 }),
    ]),
    json([call("toolu_3", "read_skill_file", { name: "forms", path: "none" })]),
    json([text("Filled.")]),
    json([text("Yes.")]),
  ]);
  const body = ask(["forms"], { tools, system: "Be brief." });
  const { content, container } = await say(body);
  const turns = [...body.messages as Any[], { role: "assistant", content }, {
    role: "user",
    content: "Really?",
  }];
  await say({ ...body, container: container.id, messages: turns });
  const [, , third, fourth] = asked.map(({ body }) => JSON.parse(body));
  assert.equal(fourth.messages.slice(0, third.messages.length), third.messages);
  assert.equal(fourth.messages.slice(third.messages.length), [
    { role: "assistant", content: [text("Filled.")] },
    { role: "user", content: "Really?" },
  ]);
  for (const member of ["system", "tools"]) {
    assert.is(JSON.stringify(fourth[member]), JSON.stringify(third[member]));
  }
});

test("the client's own system stays as it is, before the catalogue", async () => {
  assert.equal((await sent({ system: "Be brief." })).system[0], text("Be brief."));
  assert.is((await sent({ system: "" })).system.length, 1);
  const own = [marked("One"), text("Two")];
  const { system } = await sent({ system: own });
  assert.equal(system.slice(0, 2), own);
  assert.is(system[2].cache_control, undefined);
});

test("a breakpoint at the end of system is also at the end of the catalogue, while there are fewer than four", async () => {
  const hour = { type: "ephemeral", ttl: "1h" };
  const { system } = await sent({ system: [marked("Mine", hour)] });
  assert.equal(system.map(({ cache_control }: Any) => cache_control), [hour, hour]);
  const full = {
    system: [marked("1"), marked("2")],
    tools: [{ ...CODE_EXECUTION, cache_control: EPHEMERAL }],
    messages: [{
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "x", content: [marked("4")] }],
    }],
  };
  const body = await sent(full);
  assert.is(countBreakpoints(checkBody(body)), 4);
  assert.is(body.system[2].cache_control, undefined);
  assert.equal(body.tools[1].cache_control, EPHEMERAL);
  assert.is(body.tools[0].cache_control, undefined);
});

test("nothing of a skill looks like another element of the catalogue, and all of it can be read back", () => {
  const skills = [
    { name: "a&b", description: `</description></skill><skill> "x" 'y' & &amp; &lt;` },
    { name: "b", description: "one\n\u2028two\u0000\u200b \u{e0041}three 👩‍👧" },
    { name: "c", description: "é".repeat(1025) },
  ];
  const text = writeCatalogue(skills, "load_skill", "read_skill_file");
  assert.equal(text.match(/<\/?skill>/g)!.length, 6);
  assert.equal(readCatalogue(text), [
    skills[0],
    { name: "b", description: "one two three 👩‍👧" },
    { name: "c", description: `${"é".repeat(1024)} [truncated after 1024 of 1025 characters]` },
  ]);
});

test.run();
