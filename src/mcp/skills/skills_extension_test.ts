import { suite } from "uvu";
import * as assert from "uvu/assert";
import { resourceTemplate, tool } from "../definition/define.ts";
import type { ToolServerOptions } from "../service.ts";
import { type Message, session } from "../test_exchange.ts";
import { newServer, request } from "../test_server.ts";
import { skillsExtension } from "./skills_extension.ts";
import { ask, DEMO, LARGE, newSkillServer, refusal, sourceOf, WRITER } from "./test_skills_extension.ts";

const test = suite("mcp/skills_extension");
const EXTENSION = "io.modelcontextprotocol/skills";
const METHODS = ["skills/list", "skills/get", "resources/directory/read"];
const READER = { authorization: "Bearer reader" };

test("the extension is declared for clients since 2025-11-25, if the server has a source", async () => {
  const server = newSkillServer();
  const { capabilities } = await ask(server, "server/discover");
  assert.equal(capabilities.extensions, { [EXTENSION]: { directoryRead: true } });
  assert.ok(capabilities.resources);
  const before = (await session(server)).result.capabilities;
  assert.equal(before.extensions, { [EXTENSION]: { directoryRead: true } });
  const old = (await session(server, { revision: "2025-06-18" })).result.capabilities;
  assert.is(old.extensions, undefined);
  assert.ok(old.resources);

  const { server: without } = newServer();
  assert.is((await ask(without, "server/discover")).capabilities.extensions, undefined);
  for (const method of METHODS) assert.is((await refusal(without, method)).code, -32601, method);
});

test("older clients have tools, resources and a prompt, but not the methods", async () => {
  for (const revision of ["2025-06-18", "2025-03-26", "2024-11-05"]) {
    const old = await session(newSkillServer(), { revision });
    for (const method of METHODS) {
      assert.is((await old.request(method, { uri: "skill://demo" })).answer.error.code, -32601, method);
    }
  }
  const client = await session(newSkillServer(), { revision: "2025-06-18" });
  const names = (await client.request("tools/list")).answer.result.tools.map((each: Message) => each.name);
  assert.equal(names, ["list_skills", "load_skill", "read_skill_file"]);
  assert.is((await client.request("resources/list")).answer.result.resources.length, 2);
});

test("results of 2025-11-25 are those of 2026-07-28 without its new members", async () => {
  const server = newSkillServer(undefined, { pageSize: 1 });
  const client = await session(server);
  for (
    const [method, params] of [
      ["skills/list", {}],
      ["skills/get", { uri: "skill://demo/SKILL.md" }],
      ["resources/directory/read", { uri: "skill://demo/templates" }],
    ] as const
  ) {
    const { resultType: _, ttlMs, cacheScope, _meta, ...same } = await ask(server, method, params);
    assert.ok(ttlMs !== undefined && cacheScope !== undefined && _meta, method);
    assert.equal((await client.request(method, params)).answer.result, same, method);
  }
  const { nextCursor } = (await client.request("skills/list")).answer.result;
  const rest = (await client.request("skills/list", { cursor: nextCursor })).answer.result;
  assert.equal(rest.skills.map((each: Message) => each.uri), ["skill://large/SKILL.md"]);
  const unknown = await client.request("skills/get", { uri: "skill://none/SKILL.md" });
  assert.is(unknown.answer.error.code, -32602);
});

test("an entry has the complete front matter and all files with digest and size", async () => {
  const server = newSkillServer();
  const { skills, nextCursor, ttlMs, cacheScope } = await ask(server, "skills/list");
  assert.equal([nextCursor, ttlMs, cacheScope], [undefined, 60_000, "private"]);
  assert.equal(skills, [
    {
      uri: "skill://demo/SKILL.md",
      frontmatter: {
        name: "demo",
        description: "What demo\ndoes",
        license: "MIT",
        metadata: { version: 1.5, tags: [null, true] },
      },
      resources: [
        { uri: "skill://demo/SKILL.md", digest: "sha256:SKILL.md", size: 21 },
        { uri: "skill://demo/a%20b.md", digest: "sha256:a b.md", size: 1 },
        { uri: "skill://demo/templates/one.md", digest: "sha256:templates/one.md", size: 1 },
        { uri: "skill://demo/templates/deep/er/two.md", digest: "sha256:templates/deep/er/two.md", size: 1 },
        { uri: "skill://demo/templates/z.png", digest: "sha256:templates/z.png", size: 2 },
      ],
    },
    {
      uri: "skill://large/SKILL.md",
      frontmatter: { name: "large", description: "What large\ndoes" },
      resources: "dynamic",
    },
  ]);
  for (const skill of skills) {
    const got = await ask(server, "skills/get", { uri: skill.uri });
    assert.equal(got.skill, skill);
    assert.equal([got.nextCursor, got.ttlMs, got.cacheScope], [undefined, 60_000, "public"]);
  }
});

test("callers see only skills that they may see", async () => {
  const server = newSkillServer();
  const uri = "skill://skill_01/demo/SKILL.md";
  const uris = async (headers = {}) =>
    (await ask(server, "skills/list", {}, headers)).skills.map((each: Message) => each.uri);
  assert.equal(await uris(WRITER), ["skill://demo/SKILL.md", "skill://large/SKILL.md", uri]);
  assert.is((await ask(server, "skills/get", { uri }, WRITER)).cacheScope, "private");
  assert.is((await ask(server, "resources/read", { uri }, WRITER)).contents[0].text, "mine");
  for (const headers of [{}, READER]) {
    assert.equal(await uris(headers), ["skill://demo/SKILL.md", "skill://large/SKILL.md"]);
    for (const method of ["skills/get", "resources/read", "resources/directory/read"]) {
      for (
        const [hidden, unknown] of [[uri, "skill://none/demo/SKILL.md"], [
          "skill://skill_01/demo",
          "skill://x/y",
        ]]
      ) {
        const error = await refusal(server, method, { uri: hidden }, headers);
        const other = await refusal(server, method, { uri: unknown }, headers);
        assert.is(error.code, -32602);
        assert.equal(error.data, { uri: hidden });
        assert.is(error.message.replace(hidden, ""), other.message.replace(unknown, ""));
      }
    }
  }
});

test("the list is public only with auth: off", async () => {
  const scopes = async (auth: ToolServerOptions["auth"], headers = {}) => {
    const server = newSkillServer([DEMO], { auth });
    const uri = "skill://demo/SKILL.md";
    return [
      (await ask(server, "skills/list", {}, headers)).cacheScope,
      (await ask(server, "skills/get", { uri }, headers)).cacheScope,
    ];
  };
  assert.equal(await scopes("off"), ["public", "public"]);
  assert.equal(await scopes("optional"), ["private", "public"]);
  assert.equal(await scopes("optional", WRITER), ["private", "public"]);
  assert.equal(await scopes("required", WRITER), ["private", "private"]);
});

test("every file of a listed skill can be read, as unchanged text or base64", async () => {
  const server = newSkillServer();
  const { skills } = await ask(server, "skills/list");
  const contents = [];
  for (const { uri } of skills[0].resources) {
    const read = await ask(server, "resources/read", { uri });
    assert.is(read.contents[0].uri, uri);
    contents.push(read.contents[0].text ?? read.contents[0].blob);
  }
  assert.equal(contents, ["\ufeff---\nname: demo\n---\nÄ", "x", "1", "2", "AP8="]);
});

test("resources/list has each SKILL.md with name and description", async () => {
  const server = newSkillServer();
  const { resources } = await ask(server, "resources/list", {}, WRITER);
  const named = (uri: string, name: string) => ({
    uri,
    name,
    description: `What ${name}\ndoes`,
    mimeType: "text/markdown",
  });
  assert.equal(resources, [
    named("skill://demo/SKILL.md", "demo"),
    named("skill://large/SKILL.md", "large"),
    named("skill://skill_01/demo/SKILL.md", "demo"),
  ]);
});

test("a skill that is deleted meanwhile or has no SKILL.md is omitted", async () => {
  const source = sourceOf([DEMO, { path: "odd", files: { "readme.md": "x" } }, LARGE]);
  const { server } = newServer({
    definitions: [],
    extensions: [skillsExtension({
      ...source,
      async page(principal, options) {
        const { entries, next } = await source.page(principal, options);
        return {
          entries: entries.map((each, i) =>
            i === 0 ? { ...each, files: () => Promise.resolve(undefined) } : each
          ),
          next,
        };
      },
    })],
  });
  const { skills } = await ask(server, "skills/list");
  assert.equal(skills.map((each: Message) => each.uri), ["skill://large/SKILL.md"]);
  assert.is((await refusal(server, "skills/get", { uri: "skill://odd/SKILL.md" })).code, -32602);
});

test("skills remain when definitions are replaced, and the server's own definitions take precedence", async () => {
  const server = newSkillServer();
  const own = tool({ name: "load_skill", description: "Mine", run: () => "mine" });
  await server.replace([own, tool({ name: "late", description: "Came later", run: () => "late" })]);
  const { tools } = await ask(server, "tools/list");
  assert.equal(tools.map((each: Message) => each.name), [
    "list_skills",
    "read_skill_file",
    "load_skill",
    "late",
  ]);
  assert.is((await ask(server, "skills/list")).skills.length, 2);
  await server.replace([
    resourceTemplate({ uriTemplate: "skill://{name}/{+path}", name: "own", read: () => "own" }),
  ]);
  const read = await ask(server, "resources/read", { uri: "skill://demo/SKILL.md" });
  assert.is(read.contents[0].text, "own");
});

test("plain JSON-RPC callers do not have the methods", async () => {
  const { post } = newServer({ definitions: [], extensions: [skillsExtension(sourceOf([DEMO]))] });
  for (const method of METHODS) assert.is((await post(request(method))).body.error.code, -32601);
});

test.run();
