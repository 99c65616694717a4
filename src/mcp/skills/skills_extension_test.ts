import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Principal } from "../../http/principal.ts";
import { resourceTemplate, tool } from "../definition/definition.ts";
import type { ToolServer, ToolServerOptions } from "../service.ts";
import type { SkillEntry, SkillSource } from "./skills.ts";
import { skillsExtension } from "./skills_extension.ts";
import { type Message, modern, session } from "../test_exchange.ts";
import { newServer, request } from "../test_server.ts";
import { browseEntries } from "./test_skill_source.ts";

const test = suite("mcp/skills_extension");
const EXTENSION = "io.modelcontextprotocol/skills";
const METHODS = ["skills/list", "skills/get", "resources/directory/read"];
const WRITER = { authorization: "Bearer writer" };
const READER = { authorization: "Bearer reader" };

interface TestSkill {
  readonly path: string;
  readonly files: Readonly<Record<string, string | Uint8Array | null>>;
  /** The caller who may see it; every caller if absent. */
  readonly client?: string;
  readonly more?: Record<string, unknown>;
}

/** An entry with invented digests; a file with `null` has no digest. */
function toEntry({ path, files, client, more }: TestSkill): SkillEntry {
  const segments = path.split("/");
  const name = segments.at(-1)!;
  return {
    path: segments,
    frontMatter: { name, description: `What ${name}\ndoes`, ...more },
    isPublic: client === undefined,
    files: () =>
      Promise.resolve(
        Object.entries(files).map(([path, content]) => ({
          path,
          size: content?.length ?? 1,
          type: path.endsWith(".md") ? "text/markdown" : undefined,
          digest: content === null ? undefined : `sha256:${path}`,
        })),
      ),
    read(path) {
      const content = Object.hasOwn(files, path) ? files[path] ?? "?" : undefined;
      const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
      return Promise.resolve(
        bytes && { bytes, mediaType: path.endsWith(".png") ? "image/png" : "text/markdown" },
      );
    },
  };
}

function sourceOf(skills: readonly TestSkill[]): SkillSource {
  const visible = (principal: Principal | undefined) =>
    skills.filter(({ client }) => client === undefined || client === principal?.client).map(toEntry);
  return {
    list: () => Promise.resolve({ skills: [], omitted: { shadowed: 0, older: false } }),
    load: () => Promise.resolve(undefined),
    read: () => Promise.resolve(undefined),
    ...browseEntries(visible),
  };
}

const DEMO: TestSkill = {
  path: "demo",
  files: {
    "SKILL.md": "\ufeff---\nname: demo\n---\nÄ",
    "a b.md": "x",
    "templates/one.md": "1",
    "templates/deep/er/two.md": "2",
    "templates/z.png": Uint8Array.of(0, 255),
  },
  more: { license: "MIT", metadata: { version: 1.5, tags: [null, true] } },
};
const PRIVATE: TestSkill = { path: "skill_01/demo", files: { "SKILL.md": "mine" }, client: "writer" };
const LARGE: TestSkill = { path: "large", files: { "SKILL.md": null, "a/b.txt": null } };

function newSkillServer(
  skills: readonly TestSkill[] = [DEMO, LARGE, PRIVATE],
  options: Partial<ToolServerOptions> = {},
): ToolServer {
  return newServer({ definitions: [], extensions: [skillsExtension(sourceOf(skills))], ...options }).server;
}

async function ask(server: ToolServer, method: string, params = {}, headers = {}): Promise<Message> {
  const { answer } = await modern(server, method, params, { headers });
  assert.ok(answer.result, JSON.stringify(answer));
  assert.is(answer.result.resultType, "complete");
  return answer.result;
}

async function refusal(server: ToolServer, method: string, params = {}, headers = {}): Promise<Message> {
  const { answer } = await modern(server, method, params, { headers });
  assert.ok(answer.error, JSON.stringify(answer));
  return answer.error;
}

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

test("pages list each skill once, and a cursor is valid only for its list", async () => {
  const many = Array.from({ length: 7 }, (_, i): TestSkill => ({ ...DEMO, path: `skill_${i}/demo` }));
  const server = newSkillServer([...many, PRIVATE], { pageSize: 3 });
  const walk = async (headers = {}) => {
    const pages: string[][] = [];
    let cursor: string | undefined;
    do {
      const { skills, nextCursor } = await ask(server, "skills/list", { cursor }, headers);
      pages.push(skills.map((each: Message) => each.uri));
      assert.ok(
        skills.every((each: Message) => each.resources.length === 5 || each.uri.includes("skill_01/")),
      );
      cursor = nextCursor;
    } while (cursor !== undefined);
    return pages;
  };
  const pages = await walk();
  assert.equal(pages.map((page) => page.length), [3, 3, 1]);
  assert.is(new Set(pages.flat()).size, 7);
  assert.equal((await walk(WRITER)).map((page) => page.length), [3, 3, 2]);

  const { nextCursor } = await ask(server, "skills/list");
  const folder = await ask(server, "resources/directory/read", { uri: "skill://skill_1/demo/templates" });
  assert.is(folder.nextCursor, undefined);
  const top = await ask(newSkillServer(many, { pageSize: 2 }), "resources/directory/read", {
    uri: "skill://skill_1/demo",
  });
  const list = (cursor: unknown) => refusal(server, "skills/list", { cursor });
  for (const cursor of [nextCursor + "x", "x" + nextCursor, top.nextCursor, "", 7, null, ["a"], {}]) {
    assert.is((await list(cursor)).code, -32602, String(cursor));
  }
  const other = { uri: "skill://skill_1/demo", cursor: nextCursor };
  assert.is((await refusal(server, "resources/directory/read", other)).code, -32602);
});

test("a page ends before the limit of files, but has at least one skill", async () => {
  const files = (count: number) =>
    Object.fromEntries([["SKILL.md", "x"], ...Array.from({ length: count - 1 }, (_, i) => [`f${i}`, "x"])]);
  const skills = [4000, 1000, 1, 6000, 1, 1].map((count, i) => ({ path: `s${i}`, files: files(count) }));
  const server = newSkillServer(skills);
  const pages: number[] = [];
  let cursor: string | undefined;
  do {
    const page = await ask(server, "skills/list", { cursor });
    pages.push(page.skills.length);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  assert.equal(pages, [2, 1, 1, 2]);
});

test("a page has at most a hundred skills", async () => {
  const skills = Array.from({ length: 101 }, (_, i) => ({ path: `s${i}`, files: { "SKILL.md": "x" } }));
  const server = newSkillServer(skills);
  const { skills: first, nextCursor } = await ask(server, "skills/list");
  assert.is(first.length, 100);
  assert.is((await ask(server, "skills/list", { cursor: nextCursor })).skills.length, 1);
});

test("a directory lists its direct children, with URIs without a trailing slash", async () => {
  const server = newSkillServer();
  const result = await ask(server, "resources/directory/read", { uri: "skill://demo" });
  assert.equal([result.ttlMs, result.cacheScope], [60_000, "public"]);
  assert.equal(result.resources, [
    {
      uri: "skill://demo/SKILL.md",
      name: "demo",
      description: "What demo\ndoes",
      mimeType: "text/markdown",
      size: 21,
    },
    { uri: "skill://demo/a%20b.md", name: "a b.md", mimeType: "text/markdown", size: 1 },
    { uri: "skill://demo/templates", name: "templates", mimeType: "inode/directory" },
  ]);
  const { resources } = await ask(server, "resources/directory/read", { uri: result.resources[2].uri });
  assert.equal(resources, [
    { uri: "skill://demo/templates/deep", name: "deep", mimeType: "inode/directory" },
    { uri: "skill://demo/templates/one.md", name: "one.md", mimeType: "text/markdown", size: 1 },
    { uri: "skill://demo/templates/z.png", name: "z.png", size: 2 },
  ]);
  const large = await ask(server, "resources/directory/read", { uri: "skill://large/a" });
  assert.equal(large.resources, [{ uri: "skill://large/a/b.txt", name: "b.txt", size: 1 }]);
});

test("a directory has pages, and a cursor is valid only for this directory", async () => {
  const files = Object.fromEntries(["SKILL.md", "a/x", "b", "c/y", "d"].map((path) => [path, "x"]));
  const server = newSkillServer([{ path: "s", files }, { path: "t", files }], { pageSize: 2 });
  const names: string[][] = [];
  let cursor: string | undefined;
  let last: string | undefined;
  do {
    const page = await ask(server, "resources/directory/read", { uri: "skill://s", cursor });
    names.push(page.resources.map((each: Message) => each.name));
    cursor = page.nextCursor;
    last = cursor ?? last;
  } while (cursor !== undefined);
  assert.equal(names, [["s", "a"], ["b", "c"], ["d"]]);
  const elsewhere = { uri: "skill://t", cursor: last };
  assert.is((await refusal(server, "resources/directory/read", elsewhere)).code, -32602);
});

test("an unknown skill or directory is refused with -32602 and its URI", async () => {
  const server = newSkillServer();
  const cases: Record<string, string[]> = {
    "skills/get": [
      "skill://demo",
      "skill://demo/",
      "skill://demo/a%20b.md",
      "skill://demo/templates/SKILL.md",
      "skill://demo/SKILL.md/",
      "skill://demo/SKILL.md?",
      "skill://none/SKILL.md",
      "skill://skill_01/SKILL.md",
      "",
      "demo",
      "skill://" + "x".repeat(600),
    ],
    "resources/directory/read": [
      "skill://demo/SKILL.md",
      "skill://demo/",
      "skill://demo/templates/",
      "skill://demo/templat",
      "skill://demo/templates/..",
      "skill://demo/%2e%2e/large",
      "skill://none",
      "skill://",
      "test://text",
    ],
    "resources/read": [
      "skill://demo",
      "skill://demo/templates",
      "skill://demo/none",
      "skill://none/SKILL.md",
    ],
  };
  for (const [method, uris] of Object.entries(cases)) {
    for (const uri of uris) {
      const error = await refusal(server, method, { uri });
      assert.is(error.code, -32602, uri);
      assert.equal(error.data, { uri: uri.slice(0, 500) });
    }
    for (const uri of [undefined, null, 7, ["skill://demo"]]) {
      if (method !== "resources/read") assert.is((await refusal(server, method, { uri })).code, -32602);
    }
  }
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
