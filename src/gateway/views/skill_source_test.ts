import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toHex } from "../../crypto/hex.ts";
import { sha256 } from "../../crypto/sha256.ts";
import type { Principal } from "../../http/principal.ts";
import type { Use } from "../../mcp/definition/group.ts";
import { skillsExtension } from "../../mcp/skills/skills_extension.ts";
import type { SkillEntry } from "../../mcp/skills/skills.ts";
import { type Message, modern, session } from "../../mcp/test_exchange.ts";
import { newServer } from "../../mcp/test_server.ts";
import { codeMode } from "../code/code_mode.ts";
import { createPolicy } from "../policy/policy.ts";
import { searchMode } from "../search/search_mode.ts";
import { newGateway, type TestGateway, type UpstreamServer } from "../upstream/test_gateway.ts";
import { browseEntries } from "../../mcp/skills/test_skill_source.ts";
import type { OwnSkills } from "./own_skills.ts";

const test = suite("gateway/views/skill_source");
const EXTENSION = "io.modelcontextprotocol/skills";
const WRITER = { authorization: "Bearer writer" };

type Files = Readonly<Record<string, string | Uint8Array>>;
interface TestSkill {
  readonly path: string;
  readonly files: Files;
  /** The client that may see it; every client if absent. */
  readonly client?: string;
  /** In place of the digests of the files. */
  readonly digest?: string;
}

const bytesOf = (content: string | Uint8Array) =>
  typeof content === "string" ? new TextEncoder().encode(content) : content;

function toEntry({ path, files, digest }: TestSkill): SkillEntry {
  const segments = path.split("/");
  const name = segments.at(-1)!;
  return {
    path: segments,
    frontMatter: { name, description: `What ${name} does`, license: "MIT" },
    isPublic: true,
    files: () =>
      Promise.resolve(
        Object.entries(files).map(([path, content]) => ({
          path,
          size: bytesOf(content).length,
          type: undefined,
          digest: digest === "none" ? undefined : digest ?? `sha256:${toHex(sha256(bytesOf(content)))}`,
        })),
      ),
    read: (path) =>
      Promise.resolve(
        Object.hasOwn(files, path)
          ? { bytes: bytesOf(files[path]!), mediaType: path.endsWith(".png") ? "image/png" : "text/markdown" }
          : undefined,
      ),
  };
}

function sourceOf(...skills: readonly TestSkill[]): OwnSkills {
  const visible = (principal: Principal | undefined) =>
    skills.filter(({ client }) => client === undefined || client === principal?.client).map(toEntry);
  return {
    list: (principal) =>
      Promise.resolve({
        skills: visible(principal).map(({ frontMatter: { name, description } }) => ({
          id: name,
          name,
          description,
          source: "local",
        })),
        omitted: { shadowed: 0, older: false },
      }),
    load: (principal, name) => {
      const found = visible(principal).find((each) => each.frontMatter.name === name);
      const { description } = found?.frontMatter ?? { description: "" };
      return Promise.resolve(
        found && { id: name, name, description, instructions: `Own ${name}`, files: ["SKILL.md"] },
      );
    },
    read: () => Promise.resolve(undefined),
    locate: (principal, name) => {
      const found = visible(principal).find((each) => each.frontMatter.name === name);
      return Promise.resolve(found && { id: name, path: found.path });
    },
    ...browseEntries(visible),
  };
}

const PDF: TestSkill = {
  path: "pdf",
  files: {
    "SKILL.md": "---\nname: pdf\ndescription: What pdf does\n---\nUse the scripts.\n",
    "scripts/fill form.py": "print(1)",
    "logo.png": Uint8Array.of(0, 255, 128),
  },
};
const MINE: TestSkill = { path: "team/mine", files: { "SKILL.md": "---\n---\nmine" }, client: "writer" };

const serving = (skills: readonly TestSkill[], revision?: string): UpstreamServer => ({
  server: newServer({ definitions: [], extensions: [skillsExtension(sourceOf(...skills))] }).server,
  ...(revision !== undefined && { revision }),
});

const gateways: TestGateway[] = [];
test.after(async () => {
  for (const { upstreams } of gateways) await upstreams.close();
});
async function start(...given: Parameters<typeof newGateway>): Promise<TestGateway> {
  const gateway = await newGateway(...given);
  gateways.push(gateway);
  return gateway;
}

async function ask({ server }: TestGateway, method: string, params = {}, headers = {}): Promise<Message> {
  return (await modern(server, method, params, { headers })).answer;
}
const listed = async (gateway: TestGateway, headers = {}): Promise<string[]> =>
  (await ask(gateway, "skills/list", {}, headers)).result.skills.map(({ uri }: Message) => uri);
const textOf = (answer: Message): string => answer.result.content[0].text;
const load = async (gateway: TestGateway, name: string) =>
  await ask(gateway, "tools/call", { name: "load_skill", arguments: { name } });
const readFile = async (gateway: TestGateway, name: string, path: string) =>
  await ask(gateway, "tools/call", { name: "read_skill_file", arguments: { name, path } });

test("skills of upstreams of both eras are listed with their front matter and digests, below the upstream", async () => {
  const direct = newServer({ definitions: [], extensions: [skillsExtension(sourceOf(PDF))] }).server;
  const [expected] = (await modern(direct, "skills/list")).answer.result.skills;
  for (const [revision, prefix] of [["2026-07-28", "docs"], ["2025-11-25", "docs"], ["2026-07-28", ""]]) {
    const gateway = await start({ docs: serving([PDF], revision!) }, { options: { prefix } });
    const { capabilities } = (await ask(gateway, "server/discover")).result;
    assert.equal(capabilities.extensions[EXTENSION], { directoryRead: true });
    assert.ok(capabilities.resources);
    const [skill, ...others] = (await ask(gateway, "skills/list")).result.skills;
    assert.equal(others, []);
    const text = JSON.stringify(expected).replaceAll("skill://pdf", "skill://upstream.docs/pdf");
    assert.equal(skill, JSON.parse(text));
    const { uri } = skill;
    assert.equal((await ask(gateway, "skills/get", { uri })).result.skill, skill);
    for (const { uri, digest } of skill.resources) {
      const [contents] = (await ask(gateway, "resources/read", { uri })).result.contents;
      const bytes = contents.text === undefined
        ? Uint8Array.from(atob(contents.blob), (character) => character.charCodeAt(0))
        : bytesOf(contents.text);
      assert.is(`sha256:${toHex(sha256(bytes))}`, digest);
    }
    const directory = { uri: "skill://upstream.docs/pdf" };
    const { resources } = (await ask(gateway, "resources/directory/read", directory)).result;
    assert.equal(resources.map(({ name }: Message) => name), ["pdf", "logo.png", "scripts"]);
    const unknown = { uri: "skill://upstream.docs/pdf/none.md" };
    assert.is((await ask(gateway, "resources/read", unknown)).error.code, -32602);
    const inList = (await ask(gateway, "resources/list")).result.resources;
    assert.equal(inList.map(({ uri }: Message) => uri), ["skill://upstream.docs/pdf/SKILL.md"]);
  }
});

test("clients without the extension load and read them by tools", async () => {
  const gateway = await start({ docs: serving([PDF]) });
  const client = await session(gateway.server, { revision: "2025-06-18" });
  const call = async (name: string, given: object) =>
    textOf((await client.request("tools/call", { name, arguments: given })).answer);
  assert.is(await call("list_skills", {}), "- docs/pdf: What pdf does");
  const text = await call("load_skill", { name: "docs/pdf" });
  assert.match(text, /^Use the scripts\.\n\nFiles .*\n- scripts\/fill form\.py\n- logo\.png$/);
  const file = { name: "docs/pdf", path: "scripts/fill form.py" };
  assert.is(await call("read_skill_file", file), "print(1)");
  const { result } = await readFile(gateway, "docs/pdf", "logo.png");
  assert.equal(result.content[0].resource, {
    uri: "skill://upstream.docs/pdf/logo.png",
    mimeType: "image/png",
    blob: "AP+A",
  });
  for (const path of ["none.md", "../pdf/SKILL.md"]) {
    assert.match(textOf(await readFile(gateway, "docs/pdf", path)), /^Unknown file/);
  }
  assert.match(textOf(await load(gateway, "pdf")), /^Unknown skill/);
});

test("skills of this server and of several upstreams stay apart, page by page", async () => {
  const own = sourceOf({ ...PDF, path: "pdf" }, { ...PDF, path: "zip" });
  const servers = { a: serving([PDF]), b: serving([PDF, { ...PDF, path: "x/y/pdf" }]) };
  const startPaged = (pageSize: number) =>
    start(servers, {
      views: { skills: own },
      server: { extensions: [skillsExtension(own)], pageSize },
      options: { prefix: "" },
    });
  for (const pageSize of [1, 2, 3]) {
    const gateway = await startPaged(pageSize);
    const uris: string[] = [];
    let cursor: string | undefined;
    do {
      const { skills, nextCursor } = (await ask(gateway, "skills/list", cursor ? { cursor } : {})).result;
      assert.ok(skills.length <= pageSize);
      uris.push(...skills.map(({ uri }: Message) => uri));
      cursor = nextCursor;
    } while (cursor !== undefined);
    assert.equal(uris, [
      "skill://pdf/SKILL.md",
      "skill://zip/SKILL.md",
      "skill://upstream.a/pdf/SKILL.md",
      "skill://upstream.b/pdf/SKILL.md",
      "skill://upstream.b/x/y/pdf/SKILL.md",
    ]);
  }
  const gateway = await startPaged(50);
  assert.match(textOf(await load(gateway, "pdf")), /^Own pdf/);
  assert.match(textOf(await load(gateway, "b/x/y/pdf")), /^Use the scripts/);
});

test("each caller is offered the skills of its own sessions, with the scopes that they need", async () => {
  const access = () => ({
    partition: (caller: Principal | undefined) => caller?.client ?? "",
    headers: (caller: Principal | undefined) =>
      Promise.resolve(caller ? { authorization: `Bearer ${caller.client}` } : {}),
  });
  const gateway = await start({ docs: serving([PDF, MINE]) }, { upstreams: { access: access as never } });
  assert.equal(await listed(gateway), ["skill://upstream.docs/pdf/SKILL.md"]);
  const mine = "skill://upstream.docs/team/mine/SKILL.md";
  assert.equal((await listed(gateway, WRITER)).at(-1), mine);
  assert.is((await ask(gateway, "skills/get", { uri: mine })).error.code, -32602);
  assert.match(textOf(await load(gateway, "docs/team/mine")), /^Unknown skill/);

  const scoped = await start({ docs: serving([PDF]) }, { options: { scopes: ["write"] } });
  assert.equal(await listed(scoped), []);
  assert.match(textOf(await load(scoped, "docs/pdf")), /^Unknown skill/);
  assert.is((await listed(scoped, WRITER)).length, 1);
});

test("the policy hides a skill, and decides about each file that is read, also by tools", async () => {
  const rules = [
    { resources: "skill://upstream.docs/team/*", effect: "deny" },
    { resources: "skill://upstream.docs/pdf/logo.png", upstreams: "docs", effect: "deny" },
  ] as const;
  const policy = createPolicy({ rules }, {
    store: undefined as never,
    now: Date.now,
    observe: () => {},
    implied: new Map(),
    place: "https://gateway.example",
    hasPages: false,
  } as never);
  const uses: string[] = [];
  const record = ({ definition, name }: Use, _: unknown, next: () => unknown) => {
    uses.push(`${(definition as { upstream?: string }).upstream ?? "own"} ${name}`);
    return next();
  };
  const gateway = await start({ docs: serving([PDF, { ...MINE, client: undefined! }]) }, {
    views: { isVisible: policy.isVisible, middleware: [policy.middleware, record] },
  });
  assert.equal(await listed(gateway), ["skill://upstream.docs/pdf/SKILL.md"]);
  assert.match(textOf(await load(gateway, "docs/team/mine")), /^Unknown skill/);
  uses.length = 0;
  await load(gateway, "docs/pdf");
  assert.equal(uses, ["own load_skill", "docs skill://upstream.docs/pdf/SKILL.md"]);
  const { result } = await readFile(gateway, "docs/pdf", "logo.png");
  assert.is(result.isError, true);
  assert.match(textOf({ result }), /^Denied by policy/);
  uses.length = 0;
  await ask(gateway, "resources/read", { uri: "skill://upstream.docs/pdf/scripts/fill%20form.py" });
  assert.equal(uses.filter((use) => use.startsWith("docs ")).length, 1, "the policy decides once");
});

test("callers for whom the policy hides other tools of skills do not share a view", async () => {
  const gateway = await start({ docs: serving([PDF]) }, {
    views: {
      isVisible: (definition, caller) => caller !== undefined || definition.name !== "load_skill",
    },
  });
  const names = async (headers = {}) =>
    (await ask(gateway, "tools/list", {}, headers)).result.tools.map(({ name }: Message) => name).filter(
      (name: string) => !name.startsWith("docs_"),
    );
  assert.equal(await names(WRITER), ["list_skills", "load_skill", "read_skill_file"]);
  assert.equal(await names(), ["list_skills", "read_skill_file"]);
});

test("search mode and code mode find skills of upstreams, and load them", async () => {
  const gateway = await start({ docs: serving([PDF]) }, { server: { arrange: searchMode() } });
  const search = { name: "search_tools", arguments: { query: "what does pdf do", limit: 1 } };
  const found = textOf(await ask(gateway, "tools/call", search));
  const given = /call_tool with (\{.*\})\)$/.exec(found)![1]!;
  const loaded = await ask(gateway, "tools/call", { name: "call_tool", arguments: JSON.parse(given) });
  assert.match(textOf(loaded), /^Use the scripts/);
  const engine = { run: () => Promise.resolve({ result: "null" }) };
  const code = await start({ docs: serving([PDF]) }, { server: { arrange: codeMode({ engine }) } });
  const api = textOf(await ask(code, "tools/call", { name: "describe_api", arguments: { query: "pdf" } }));
  assert.ok(api.includes('// Skill: await tools.load_skill({"name":"docs/pdf"})'), api);
});

test("a file with another digest than its server lists reaches no model by tools", async () => {
  const gateway = await start({ docs: serving([{ ...PDF, digest: `sha256:${"0".repeat(64)}` }]) });
  for (const answer of [await load(gateway, "docs/pdf"), await readFile(gateway, "docs/pdf", "logo.png")]) {
    assert.is(answer.result.isError, true);
    assert.not.match(textOf(answer), /Use the scripts/);
  }
});

test("a skill without a list of files passes as dynamic, and its files are read", async () => {
  const gateway = await start({ docs: serving([{ ...PDF, digest: "none" }]) });
  const [skill] = (await ask(gateway, "skills/list")).result.skills;
  assert.is(skill.resources, "dynamic");
  assert.is(textOf(await readFile(gateway, "docs/pdf", "scripts/fill form.py")), "print(1)");
});

test("an upstream without skills adds none of their tools, and no extension", async () => {
  const gateway = await start({ docs: { server: newServer().server } });
  const { capabilities } = (await ask(gateway, "server/discover")).result;
  assert.is(capabilities.extensions?.[EXTENSION], undefined);
  assert.is((await ask(gateway, "skills/list")).error.code, -32601);
});

test.run();
