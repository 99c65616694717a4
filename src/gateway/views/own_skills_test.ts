import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { TrivetEvent } from "../../events.ts";
import type { CallContext } from "../../mcp/context.ts";
import { type Message, modernHeaders, modernParams, readResponse } from "../../mcp/test_exchange.ts";
import { skillsExtension } from "../../mcp/skills/skills_extension.ts";
import { DEMO, sourceOf } from "../../mcp/skills/test_skills_extension.ts";
import { newServer } from "../../mcp/test_server.ts";
import { createApiKey } from "../../skills/api_key.ts";
import { folderOf, multipart } from "../../skills/test_service.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import { createTrivet } from "../../trivet.ts";
import { gateway } from "../gateway.ts";
import type { PolicyOptions } from "../policy/policy_options.ts";
import { searchMode } from "../search/search_mode.ts";
import { guardSkills } from "./own_skills.ts";

const test = suite("gateway/views/own_skills");
const ISSUER = "http://127.0.0.1:8787";
const POINT = "https://point.example";
const FORM = { elicitation: {} };
const markdown = (name: string) =>
  `---\nname: ${name}\ndescription: What ${name} does.\n---\nBody of ${name}`;

/** A decision point that denies what is of the skill `payroll`. */
const decide = (request: string) =>
  Promise.resolve(Response.json({ decision: JSON.parse(request).resource.id.split("/")[2] !== "payroll" }));

interface Asked {
  readonly key?: string;
  readonly capabilities?: Record<string, unknown>;
}
interface Started {
  readonly events: TrivetEvent[];
  /** Secrets of API keys, and the id of the first. */
  readonly keys: readonly [string, string];
  readonly client: string;
  ask(method: string, params?: Record<string, unknown>, asked?: Asked): Promise<Message>;
  call(name: string, args?: Record<string, unknown>, asked?: Asked): Promise<Message>;
  upload(name: string): Promise<string>;
}

const started: ReturnType<typeof createTrivet>[] = [];
test.after(async () => {
  for (const { gateway } of started) await gateway!.close();
});

/** A server with local skills, each with the files SKILL.md and notes.md. */
async function start(
  policy: PolicyOptions | ((client: string) => PolicyOptions) | undefined,
  { skills = ["payroll", "report"], hasUpstream = false, mcp = {} }: {
    readonly skills?: readonly string[];
    readonly hasUpstream?: boolean;
    readonly mcp?: Record<string, unknown>;
  } = {},
): Promise<Started> {
  const store = memoryStore();
  const events: TrivetEvent[] = [];
  const first = await createApiKey(store, { name: "first" });
  const second = await createApiKey(store, { name: "second" });
  const folder = folderOf(
    new Map(
      skills.flatMap((
        name,
      ) => [[`${name}/SKILL.md`, markdown(name)], [`${name}/notes.md`, `Notes of ${name}`]]),
    ),
  );
  const upstream = newServer({ definitions: [], extensions: [skillsExtension(sourceOf([DEMO]))] }).server;
  const trivet = createTrivet({
    issuer: ISSUER,
    store,
    skills: { folders: [folder] },
    mcp,
    gateway: gateway({
      policy: typeof policy === "function" ? policy(first.key.id) : policy,
      ...(hasUpstream && { mcpServers: { docs: { url: `${ISSUER}/mcp` } } }),
      fetch: (url, init) =>
        url.startsWith(POINT) ? decide(String(init.body)) : upstream.fetch(new Request(url, init)),
    }),
    onEvent: (event) => events.push(event),
  });
  started.push(trivet);
  await trivet.gateway!.ready();
  const ask: Started["ask"] = async (method, params = {}, { key, capabilities } = {}) => {
    const headers = {
      ...modernHeaders(method, params),
      "content-type": "application/json",
      ...(key !== undefined && { "x-api-key": key }),
    };
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method,
      params: modernParams(params, capabilities),
    });
    const response = await trivet.fetch(new Request(`${ISSUER}/mcp`, { method: "POST", headers, body }));
    return (await readResponse(response)).answer;
  };
  return {
    events,
    keys: [first.secret, second.secret],
    client: first.key.id,
    ask,
    call: (name, args = {}, asked) => ask("tools/call", { name, arguments: args }, asked),
    async upload(name) {
      const { body, type } = multipart([[`${name}/SKILL.md`, markdown(name)]]);
      const headers = { "content-type": type, "x-api-key": first.secret };
      const request = new Request(`${ISSUER}/v1/skills`, { method: "POST", headers, body });
      return (await (await trivet.fetch(request)).json()).id;
    },
  };
}

const textOf = (answer: Message): string => answer.result.content[0].text;
const useSkill = (skill: string) => ({ name: "use_skill", arguments: { skill, task: "x" } });

for (const hasUpstream of [false, true]) {
  test(`attack: a denied skill is read by no tool, prompt or method, ${hasUpstream ? "beside one of an upstream" : "alone"}`, async () => {
    const policy: PolicyOptions = { rules: [{ resources: "skill://payroll/*", effect: "deny" }] };
    const { ask, call, events } = await start(policy, { hasUpstream });
    const answers = [
      await ask("resources/read", { uri: "skill://payroll/SKILL.md" }),
      await ask("resources/read", { uri: "skill://payroll/notes.md" }),
      await call("load_skill", { name: "payroll" }),
      await call("read_skill_file", { name: "payroll", path: "SKILL.md" }),
      await call("read_skill_file", { name: "payroll", path: "notes.md" }),
      await ask("prompts/get", useSkill("payroll")),
      await ask("skills/get", { uri: "skill://payroll/SKILL.md" }),
      await ask("resources/directory/read", { uri: "skill://payroll" }),
    ];
    for (const answer of answers) assert.not.match(JSON.stringify(answer), /Body of|Notes of|What payroll/);
    assert.match(textOf(answers[2]), /^Unknown skill/);
    assert.match(textOf(answers[4]), /^Unknown skill/);
    assert.is(answers[6].error.code, -32602);
    assert.is(answers[7].error.code, -32602);
    const denied = events.filter((event) => event.type === "resource_read" && event.outcome === "denied");
    assert.ok(denied.length >= 6, "each read that is refused is recorded");
    for (const list of ["skills/list", "resources/list", "tools/list", "prompts/list"]) {
      assert.not.match(JSON.stringify(await ask(list)), "payroll", list);
    }
    assert.not.match(textOf(await call("list_skills")), "payroll");
    const argument = { name: "skill", value: "p" };
    const completed = await ask("completion/complete", {
      ref: { type: "ref/prompt", name: "use_skill" },
      argument,
    });
    assert.not.match(JSON.stringify(completed), "payroll");
    const disclosed = events.flatMap((event) => event.type === "skill_disclosed" ? [event.name] : []);
    assert.equal([...new Set(disclosed)], ["report"], "nothing of it is recorded as given to a model");

    assert.match(textOf(await call("list_skills")), "report: What report does");
    assert.match(textOf(await call("load_skill", { name: "report" })), /^Body of report/);
    assert.is(textOf(await call("read_skill_file", { name: "report", path: "notes.md" })), "Notes of report");
    assert.match(JSON.stringify(await ask("prompts/get", useSkill("report"))), "Body of report");
    assert.match(JSON.stringify(await ask("skills/list")), "skill://report/SKILL.md");
    const other = "Unknown file";
    assert.match(textOf(await call("read_skill_file", { name: "report", path: "none.md" })), other);
  });
}

test("attack: search mode neither finds nor loads a denied skill", async () => {
  const policy: PolicyOptions = { rules: [{ resources: "skill://payroll/*", effect: "deny" }] };
  const { call } = await start(policy, { mcp: { arrange: searchMode() } });
  assert.not.match(textOf(await call("search_tools", { query: "what does payroll do" })), "skill payroll");
  assert.match(textOf(await call("search_tools", { query: "what does report do" })), "skill report");
  const given = { name: "load_skill", arguments: { name: "payroll" } };
  assert.match(textOf(await call("call_tool", given)), /Unknown skill/);
});

test("a rule about the file decides, not one about the skill: one file is allowed, or one is denied", async () => {
  const { ask, call } = await start({
    rules: [
      { resources: "skill://payroll/notes.md", effect: "allow" },
      { resources: ["skill://payroll/*", "skill://report/notes.md"], effect: "deny", reason: "Internal" },
    ],
  });
  assert.match(textOf(await call("load_skill", { name: "payroll" })), /^Unknown skill/);
  assert.is(textOf(await call("read_skill_file", { name: "payroll", path: "notes.md" })), "Notes of payroll");
  const { result } = await ask("resources/read", { uri: "skill://payroll/notes.md" });
  assert.is(result.contents[0].text, "Notes of payroll");

  assert.match(textOf(await call("load_skill", { name: "report" })), /^Body of report/);
  const refused = await call("read_skill_file", { name: "report", path: "notes.md" });
  assert.is(refused.result.isError, true);
  assert.match(textOf(refused), /Denied by policy: Internal/);
});

test("attack: an uploaded skill that is denied to one caller is found by neither name nor id; others use it", async () => {
  const policy = (client: string): PolicyOptions => ({
    rules: [{ resources: "skill://*/secret/*", clients: client, effect: "deny" }],
  });
  const { ask, call, upload, keys: [denied, allowed] } = await start(policy);
  const id = await upload("secret");
  for (const name of ["secret", id]) {
    assert.match(textOf(await call("load_skill", { name }, { key: denied })), /^Unknown skill/);
    const file = { name, path: "SKILL.md" };
    assert.match(textOf(await call("read_skill_file", file, { key: denied })), /^Unknown skill/);
    assert.match(textOf(await call("load_skill", { name }, { key: allowed })), /^Body of secret/);
    assert.match(textOf(await call("read_skill_file", file, { key: allowed })), "Body of secret");
  }
  for (const [key, count] of [[denied, 2], [allowed, 3], [denied, 2]] as const) {
    assert.is((await ask("skills/list", {}, { key })).result.skills.length, count);
    assert.is(textOf(await call("list_skills", {}, { key })).split("\n").length, count);
  }
  const uri = "skill://report/SKILL.md";
  const { cacheScope } = (await ask("skills/get", { uri }, { key: allowed })).result;
  assert.is(cacheScope, "private", "no shared cache gives it to a caller for whom it is denied");
});

test("pages that are short because of denied skills go on, to the last skill", async () => {
  const names = ["a", "b", "c", "d", "e", "f", "g"];
  const resources = ["b", "c", "d", "g"].map((name) => `skill://${name}/*`);
  const policy: PolicyOptions = { rules: [{ resources: [...resources, "skill://*/x/*"], effect: "deny" }] };
  for (const pageSize of [1, 2, 3]) {
    const { ask, upload, keys: [key] } = await start(policy, { skills: names, mcp: { pageSize } });
    for (const name of ["y", "x", "x", "x", "z"]) await upload(name);
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const { skills, nextCursor } = (await ask("skills/list", cursor ? { cursor } : {}, { key })).result;
      assert.ok(skills.length <= pageSize);
      found.push(...skills.map(({ frontmatter }: Message) => frontmatter.name));
      cursor = nextCursor;
    } while (cursor !== undefined);
    assert.equal(found.slice(0, 3), ["a", "e", "f"]);
    assert.equal(found.slice(3).sort(), ["y", "z"]);
  }
});

test("a rule that asks: the skill is loaded by tool and prompt once the user approves", async () => {
  const policy: PolicyOptions = {
    rules: [{ resources: "skill://payroll/*", effect: "ask" }],
    ask: { wait: 0 },
  };
  const { ask, call, events, keys: [key] } = await start(policy);
  assert.match(textOf(await call("list_skills")), "payroll");
  const anonymous = await call("load_skill", { name: "payroll" });
  assert.is(anonymous.result.isError, true);
  assert.not.match(textOf(anonymous), "Body of");
  assert.is((await ask("prompts/get", useSkill("payroll"))).error.code, 500);
  assert.is(events.some(({ type }) => type === "fault"), false);

  for (
    const [method, params] of [
      ["tools/call", { name: "load_skill", arguments: { name: "payroll" } }],
      ["tools/call", { name: "read_skill_file", arguments: { name: "payroll", path: "notes.md" } }],
      ["prompts/get", useSkill("payroll")],
    ] as const
  ) {
    const { result: { inputRequests, requestState } } = await ask(method, params, {
      key,
      capabilities: FORM,
    });
    const [name] = Object.keys(inputRequests);
    const inputResponses = { [name!]: { action: "accept", content: {} } };
    const approved = await ask(method, { ...params, requestState, inputResponses }, {
      key,
      capabilities: FORM,
    });
    assert.match(JSON.stringify(approved.result), /Body of payroll|Notes of payroll/);
  }
});

test("limits of resources count what tools and prompts read", async () => {
  const { ask, call } = await start({
    limits: [{ resources: "skill://report/*", limit: { calls: 2, per: "1h" } }],
  });
  assert.match(textOf(await call("load_skill", { name: "report" })), /^Body of/);
  assert.ok((await ask("resources/read", { uri: "skill://report/SKILL.md" })).result);
  const refused = await call("load_skill", { name: "report" });
  assert.is(refused.result.isError, true);
  assert.not.match(textOf(refused), /Body of|Unknown/);
  assert.ok((await ask("prompts/get", useSkill("report"))).error);
  assert.match(textOf(await call("load_skill", { name: "payroll" })), /^Body of/);
});

test("the decision point is asked about what tools and prompts read", async () => {
  const { ask, call } = await start({ decisionPoint: { url: POINT } });
  for (const name of ["load_skill", "read_skill_file"]) {
    const path = name === "read_skill_file" && { path: "notes.md" };
    assert.match(textOf(await call(name, { name: "payroll", ...path })), /^Denied by policy/);
    assert.match(textOf(await call(name, { name: "report", ...path })), / of report$|^Body of report/);
  }
  assert.ok((await ask("prompts/get", useSkill("payroll"))).error);
});

test("attack: a name that finds another skill after the decision gives nothing of that skill", async () => {
  const loaded: string[] = [];
  const own = {
    ...sourceOf([]),
    locate: () => Promise.resolve({ id: "skill_1", path: ["skill_1", "report"] }),
    load: (_: unknown, skill: string) => (loaded.push(skill), Promise.resolve(undefined)),
    read: (_: unknown, skill: string) => (loaded.push(skill), Promise.resolve(undefined)),
  };
  const uses: unknown[] = [];
  const guarded = guardSkills(own, { middleware: [({ input }, _, next) => (uses.push(input), next())] });
  await guarded.load(undefined, "report", {} as CallContext);
  await guarded.read(undefined, "report", "a/b.md", {} as CallContext);
  assert.equal(loaded, ["skill_1", "skill_1"], "by the id of the skill that was decided about");
  assert.equal(uses.map((each) => (each as { path: string }).path), ["report/SKILL.md", "report/a/b.md"]);
});

test("without a policy every skill is offered", async () => {
  const { ask, call } = await start(undefined);
  assert.is((await ask("skills/list")).result.skills.length, 2);
  assert.match(textOf(await call("load_skill", { name: "payroll" })), /^Body of payroll/);
  const { cacheScope } = (await ask("skills/get", { uri: "skill://report/SKILL.md" })).result;
  assert.is(cacheScope, "public");
});

test.run();
