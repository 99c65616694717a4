import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Anthropic, { toFile } from "@anthropic-ai/sdk";
import OldAnthropic from "anthropic-sdk-0.121";
import OpenAI from "openai";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skillFolder } from "../../runtime/skill_folder.ts";
import { temporaryFolder } from "../test_process.ts";
import {
  refusal,
  skillMarkdown,
  type SkillsServer,
  startSkills,
  TIME,
  unpack,
} from "../skills/test_skills_server.ts";

const test = suite("SDKs: local skills, workspaces, betas");
const folder = temporaryFolder();
let server: SkillsServer;
let client: Anthropic;
let older: OldAnthropic;

test.before(async () => {
  for (const name of ["alpha", "beta"]) {
    mkdirSync(join(folder.path, name));
    writeFileSync(join(folder.path, name, "SKILL.md"), skillMarkdown(name));
  }
  writeFileSync(join(folder.path, "alpha/data.bin"), Uint8Array.of(0, 255));
  server = await startSkills({ folders: [skillFolder(folder.path)], openai: true });
  const options = { apiKey: server.key, baseURL: server.url, maxRetries: 0 };
  client = new Anthropic(options);
  older = new OldAnthropic(options);
});
test.after(async () => {
  await server.close();
  folder.remove();
});

const files = async (name: string): Promise<File[]> => [
  await toFile(new TextEncoder().encode(skillMarkdown(name)), `${name}/SKILL.md`),
];

test("lists begin with local skills, by name; their members are those of uploaded ones", async () => {
  const uploaded = await client.skills.create({ files: await files("alpha") });
  const listed: Anthropic.Skill[] = [];
  for await (const skill of client.skills.list({ limit: 1 })) listed.push(skill);
  assert.equal(listed.map(({ display_name }) => display_name), ["alpha", "beta", "alpha"]);
  assert.is(listed[2]!.id, uploaded.id);
  const local = listed[0]!;
  assert.match(local.created_at, TIME);
  assert.equal({ ...local }, {
    type: "skill",
    id: local.id,
    created_at: local.created_at,
    updated_at: local.created_at,
    display_name: "alpha",
    latest_version_id: local.latest_version_id,
    source: { type: "local" },
  });
  assert.equal({ ...await client.skills.retrieve(local.id) }, { ...local });
  const version = await client.skills.versions.retrieve("latest", { skill_id: local.id });
  assert.equal({ ...version }, {
    type: "skill_version",
    id: local.latest_version_id,
    skill_id: local.id,
    created_at: local.created_at,
    name: "alpha",
    description: "Does alpha. Use it in tests.",
  });
  assert.equal((await client.skills.versions.list(local.id)).data, [{ ...version }]);
  assert.equal(
    (await client.skills.list({ source: "local" })).data.map(({ id }) => id),
    listed.slice(0, 2).map(({ id }) => id),
  );
  assert.equal((await client.skills.list({ source: "custom" })).data.map(({ id }) => id), [uploaded.id]);
  await client.skills.delete(uploaded.id);
});

test("the older API and OpenAI's list local skills too", async () => {
  const [local] = (await client.skills.list()).data;
  const [old] = (await older.beta.skills.list()).data;
  assert.match(old!.latest_version!, /^\d{16}$/);
  assert.equal({ ...old! }, {
    type: "skill",
    id: local!.id,
    created_at: local!.created_at,
    updated_at: local!.updated_at,
    display_title: null,
    latest_version: old!.latest_version,
    source: "local",
  });
  const params = { skill_id: local!.id };
  const version = await older.beta.skills.versions.retrieve(old!.latest_version!, params);
  assert.equal([version.name, version.directory, version.version], ["alpha", "alpha", old!.latest_version]);

  const openai = new OpenAI({ apiKey: server.key, baseURL: `${server.url}/v1`, maxRetries: 0 });
  const ids: string[] = [];
  for await (const { id } of openai.skills.list({ limit: 1 })) ids.push(id);
  assert.equal(ids, (await client.skills.list()).data.map(({ id }) => id));
  assert.equal({ ...await openai.skills.retrieve(local!.id) }, {
    id: local!.id,
    object: "skill",
    name: "alpha",
    description: "Does alpha. Use it in tests.",
    created_at: Math.floor(Date.parse(local!.created_at) / 1000),
    default_version: "1",
    latest_version: "1",
  });
});

test("local skills are read-only over the API", async () => {
  const [local] = (await client.skills.list()).data;
  const skill_id = local!.id;
  const version = local!.latest_version_id;
  const archive = await client.beta.skills.versions.download(version, { skill_id });
  assert.equal(
    await unpack(archive),
    new Map([
      ["alpha/SKILL.md", new TextEncoder().encode(skillMarkdown("alpha"))],
      ["alpha/data.bin", Uint8Array.of(0, 255)],
    ]),
  );
  const more = await files("alpha");
  for (
    const call of [
      () => client.skills.delete(skill_id),
      () => client.skills.versions.create(skill_id, { files: more }),
      () => client.skills.versions.delete(version, { skill_id }),
    ]
  ) {
    const error = await refusal(call()) as Error;
    assert.instance(error, Anthropic.PermissionDeniedError);
    assert.is((error as InstanceType<typeof Anthropic.APIError>).type, "permission_error");
  }
});

test("workspace_id must be the workspace of the key, and the response returns it", async () => {
  const before = (await client.skills.list()).data.length;
  const { response } = await client.skills.list({ workspace_id: "default" }).withResponse();
  assert.is(response.headers.get("anthropic-workspace-id"), "default");
  const upload = await files("notes");
  for (
    const call of [
      () => client.skills.list({ workspace_id: "other" }),
      () => client.skills.create({ files: upload, workspace_id: "other" }),
    ]
  ) assert.instance(await refusal(call()), Anthropic.PermissionDeniedError);
  assert.is((await client.skills.list()).data.length, before);
});

test("the current SDK gets the older format with the beta skills-2025-10-02", async () => {
  const [local] = (await client.skills.list()).data;
  const named = await client.beta.skills.retrieve(local!.id, { betas: ["skills-2025-10-02"] });
  assert.equal({ ...named } as unknown, { ...await older.beta.skills.retrieve(local!.id) });
  const other = await client.beta.skills.retrieve(local!.id, { betas: ["files-api-2025-04-14"] });
  assert.equal({ ...other }, { ...local! });
});

test.run();
