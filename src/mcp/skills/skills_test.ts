import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { SkillList } from "./skill_list.ts";
import { skillDefinitions, type SkillSource } from "./skills.ts";
import { modern } from "../test_exchange.ts";
import { newServer } from "../test_server.ts";

const test = suite("mcp/skills: list_skills");

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

test.run();
