import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skillDefinitions, type SkillList, type SkillSource } from "./skills.ts";
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

test("one line for each skill, in the order of the source, for any description", async () => {
  assert.is(
    await list([skill("b", "Two.\nLines"), skill("a", "  - not another: entry ")]),
    "- b: Two. Lines\n- a: - not another: entry",
  );
  assert.is(await list([]), "No skills are available.");
});

test("after 40,000 characters the list has names only, and says so", async () => {
  const skills = Array.from({ length: 50 }, (_, i) => skill(`s${i}`, "x".repeat(1000)));
  const lines = (await list(skills)).split("\n");
  assert.is(lines.length, 40);
  assert.is(lines[38], `- s38: ${"x".repeat(1000)}`);
  const rest = Array.from({ length: 11 }, (_, i) => `s${39 + i}`).join(", ");
  assert.match(lines[39]!, /^11 .* without descriptions/);
  assert.ok(lines[39]!.endsWith(`: ${rest}`));
});

test("the list says what the source left out", async () => {
  const [entry, shadowed, older] = (await list([skill("a", "A")], { shadowed: 3, older: true })).split("\n");
  assert.is(entry, "- a: A");
  assert.match(shadowed!, /^Not listed: 3 .* same name .* id/);
  assert.match(older!, /^Not listed: older .* name or id/);
});

test.run();
