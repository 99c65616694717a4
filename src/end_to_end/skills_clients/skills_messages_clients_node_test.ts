import Anthropic, { toFile } from "@anthropic-ai/sdk";
import OldAnthropic from "anthropic-sdk-0.121";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createAnthropic, generateText, streamText, uploadSkill } from "./test_ai_sdk.ts";
import { refusal, skillMarkdown, type SkillsServer, startSkills } from "../skills/test_skills_server.ts";

const test = suite("skills in messages of official clients");
const TASK = "Please check this invoice for arithmetic errors";
const DESCRIPTION = "Checks invoices for arithmetic errors. Use it when an invoice is given.";
const BETAS = ["skills-2025-10-02", "code-execution-2025-08-25", "files-api-2025-04-14"];
let server: SkillsServer;
let client: Anthropic;
let skill: Anthropic.Skill;

test.before(async () => {
  server = await startSkills();
  client = new Anthropic({ apiKey: server.key, baseURL: server.url, maxRetries: 0 });
  const content = new TextEncoder().encode(skillMarkdown("invoice", DESCRIPTION));
  skill = await client.skills.create({ files: [await toFile(content, "invoice/SKILL.md")] });
});
test.after(() => server.close());

const request = (container: Anthropic.MessageCreateParams["container"]) => ({
  model: "any",
  max_tokens: 1000,
  messages: [{ role: "user" as const, content: TASK }],
  tools: [{ type: "code_execution_20250825" as const, name: "code_execution" as const }],
  ...(container !== undefined && { container }),
});
const reference = { type: "custom" as const };

/** A response without the members that differ in each response. */
function withoutIds(message: object): unknown {
  const ids = /"(?:id|tool_use_id|expires_at)":"[^"]+"/g;
  return JSON.parse(JSON.stringify(message).replace(ids, '"id":"-"'));
}

test("@anthropic-ai/sdk: a response and a stream contain the same message, with the version and content of the skill", async () => {
  const container = { skills: [{ ...reference, skill_id: skill.id, version: "latest" }] };
  const message = await client.messages.create(request(container));
  assert.match(message._request_id!, /^req_/);
  assert.match(message.container!.id, /^container_/);
  assert.ok(Date.parse(message.container!.expires_at) > Date.now());
  assert.equal(message.container!.skills as unknown, [
    { ...reference, skill_id: skill.id, version: skill.latest_version_id },
  ]);
  const types = ["text", "server_tool_use", "text_editor_code_execution_tool_result", "text"];
  assert.equal(message.content.map(({ type }) => type), types);
  const view = message.content[2] as unknown as { content: { content: string } };
  assert.match(view.content.content, "Do it well.");
  assert.is(message.stop_reason, "end_turn");

  const stream = client.messages.stream(request(container));
  const events: string[] = [];
  stream.on("streamEvent", ({ type }) => events.push(type));
  const { parsed_output: _, ...streamed } = await stream.finalMessage();
  assert.equal([events[0], events.at(-2), events.at(-1)], ["message_start", "message_delta", "message_stop"]);
  assert.equal(withoutIds(streamed), withoutIds(message));

  const continued = await client.messages.create(request(message.container!.id));
  assert.is(continued.container!.id, message.container!.id, "a container can be only an id");
  assert.equal(continued.container!.skills, message.container!.skills);
});

test("@anthropic-ai/sdk: too many, repeated and unknown skills are errors of their class", async () => {
  const skills = Array.from({ length: 9 }, () => ({ ...reference, skill_id: skill.id }));
  const cases = [
    [{ skills }, Anthropic.BadRequestError, /8/],
    [{ skills: skills.slice(0, 2) }, Anthropic.BadRequestError, new RegExp(skill.id)],
    [{ skills: [{ ...reference, skill_id: "skill_01unknown" }] }, Anthropic.NotFoundError, /skill_01unknown/],
    [
      { skills: [{ ...reference, skill_id: skill.id, version: "skver_01unknown" }] },
      Anthropic.NotFoundError,
      /skver_01unknown/,
    ],
  ] as const;
  for (const [container, kind, message] of cases) {
    const error = await refusal(client.messages.create(request({ skills: [...container.skills] })));
    assert.instance(error, kind);
    assert.match((error as InstanceType<typeof Anthropic.APIError>).apiMessage!, message);
  }
  const { tools: _, ...bare } = request({ skills: skills.slice(0, 1) });
  const error = await refusal(client.messages.create(bare));
  assert.instance(error, Anthropic.BadRequestError);
  assert.match((error as Error).message, "code_execution_20250825");
});

test("@anthropic-ai/sdk 0.121: the request needs all three betas, and versions are timestamps", async () => {
  const older = new OldAnthropic({ apiKey: server.key, baseURL: server.url, maxRetries: 0 });
  const { latest_version } = await older.beta.skills.retrieve(skill.id);
  const body = request({ skills: [{ ...reference, skill_id: skill.id, version: latest_version! }] });
  const message = await older.beta.messages.create(
    { ...body, betas: BETAS } as
      & Parameters<
        typeof older.beta.messages.create
      >[0]
      & { stream?: false },
  );
  assert.equal(message.container!.skills as unknown, [
    { ...reference, skill_id: skill.id, version: latest_version },
  ]);
  const missing = await refusal(older.beta.messages.create({ ...body, betas: BETAS.slice(0, 1) } as never));
  assert.instance(missing, OldAnthropic.BadRequestError);
  assert.match((missing as Error).message, BETAS[1]!);
  assert.match((missing as Error).message, BETAS[2]!);
});

test("the AI SDK generates and streams with a skill that it uploaded", async () => {
  const provider = createAnthropic({ apiKey: server.key, baseURL: `${server.url}/v1` });
  const { providerReference, latestVersion } = await uploadSkill({
    api: provider.skills(),
    files: [{
      path: "invoice/SKILL.md",
      data: { type: "text", text: skillMarkdown("invoice", DESCRIPTION) },
    }],
  });
  const options = {
    model: provider("any"),
    prompt: TASK,
    maxOutputTokens: 1000,
    maxRetries: 0,
    tools: { code_execution: provider.tools.codeExecution_20250825() },
    providerOptions: { anthropic: { container: { skills: [{ ...reference, providerReference }] } } },
  };
  const check = (metadata: unknown): void => {
    const { container } =
      (metadata as { anthropic: { container: { id: string; skills: unknown } } }).anthropic;
    assert.match(container.id, /^container_/);
    assert.equal(container.skills, [
      { ...reference, skillId: providerReference["anthropic"], version: latestVersion },
    ]);
  };
  const result = await generateText(options);
  assert.match(result.text, "Do it well.");
  assert.is(result.finishReason, "stop");
  assert.equal(result.warnings, []);
  assert.equal(result.content.map(({ type }) => type), ["text", "tool-call", "tool-result", "text"]);
  check(result.providerMetadata);

  const stream = streamText(options);
  let text = "";
  for await (const piece of stream.textStream) text += piece;
  assert.is(text, result.text);
  check(await stream.providerMetadata);
});

test.run();
