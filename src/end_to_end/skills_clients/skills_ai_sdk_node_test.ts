import Anthropic from "@anthropic-ai/sdk";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createAnthropic, uploadSkill } from "./test_ai_sdk.ts";
import {
  refusal,
  skillMarkdown,
  type SkillsServer,
  startSkills,
  unpack,
} from "../skills/test_skills_server.ts";

const test = suite("uploadSkill of the AI SDK");
let server: SkillsServer;

test.before.each(async () => {
  server = await startSkills();
});
test.after.each(() => server.close());

const providerOf = (apiKey: string): ReturnType<typeof createAnthropic> =>
  createAnthropic({ apiKey, baseURL: `${server.url}/v1` });

test("uploadSkill uploads bytes, base64 and text, and returns the skill and its version", async () => {
  const markdown = skillMarkdown("notes", "Takes notes. Use it in tests.");
  const result = await uploadSkill({
    api: providerOf(server.key).skills(),
    files: [
      { path: "notes/data.bin", data: Uint8Array.of(0, 255, 13, 10) },
      { path: "notes/hello.txt", data: btoa("hello") },
      { path: "notes/SKILL.md", data: { type: "text", text: markdown } },
    ],
    displayTitle: "Notes é",
  });
  const client = new Anthropic({ apiKey: server.key, baseURL: server.url, maxRetries: 0 });
  const [skill] = (await client.skills.list()).data;
  assert.equal(result, {
    providerReference: { anthropic: skill!.id },
    displayTitle: "Notes é",
    name: "notes",
    description: "Takes notes. Use it in tests.",
    latestVersion: result.latestVersion!,
    providerMetadata: {
      anthropic: { source: "custom", createdAt: skill!.created_at, updatedAt: skill!.updated_at },
    },
    warnings: [],
  });
  assert.match(result.latestVersion!, /^\d{16}$/);
  assert.is(skill!.display_name, "Notes é");
  const params = { skill_id: skill!.id };
  const response = await client.beta.skills.versions.download(skill!.latest_version_id, params);
  assert.equal(
    await unpack(response),
    new Map([
      ["notes/SKILL.md", new TextEncoder().encode(markdown)],
      ["notes/data.bin", Uint8Array.of(0, 255, 13, 10)],
      ["notes/hello.txt", new TextEncoder().encode("hello")],
    ]),
  );
});

test("uploadSkill accepts the provider, and the title is optional", async () => {
  const result = await uploadSkill({
    api: providerOf(server.key),
    files: [{ path: "notes/SKILL.md", data: new TextEncoder().encode(skillMarkdown("notes")) }],
  });
  assert.not.ok("displayTitle" in result);
  assert.is(result.name, "notes");
});

test("an error has the status and message of the response", async () => {
  const files = [{ path: "other/SKILL.md", data: { type: "text" as const, text: skillMarkdown("notes") } }];
  const folder = await refusal(uploadSkill({ api: providerOf(server.key), files })) as {
    statusCode: number;
    message: string;
  };
  assert.is(folder.statusCode, 400);
  assert.match(folder.message, /'other'.*'notes'.*SKILL\.md/);
  const unauthorized = await refusal(uploadSkill({ api: providerOf("unknown"), files })) as {
    statusCode: number;
  };
  assert.is(unauthorized.statusCode, 401);
});

test.run();
