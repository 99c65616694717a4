import { suite } from "uvu";
import * as assert from "uvu/assert";
import * as v from "valibot";
import { group, type Middleware } from "../../mcp/definition/group.ts";
import { tool } from "../../mcp/definition/define.ts";
import { ToolError } from "../../mcp/definition/definition.ts";
import { skillsExtension } from "../../mcp/skills/skills_extension.ts";
import type { SkillSource } from "../../mcp/skills/skills.ts";
import { type Message, modern, session } from "../../mcp/test_exchange.ts";
import { newServer } from "../../mcp/test_server.ts";
import { searchMode, type SearchModeOptions } from "./search_mode.ts";

const test = suite("gateway/search_mode");
const WRITER = { authorization: "Bearer writer" };

const tools = [
  tool({
    name: "github_create_issue",
    title: "Create issue",
    description: "Create a new issue in a repository. Needs a token.",
    input: v.object({ title: v.string(), labels: v.optional(v.array(v.string()), []) }),
    annotations: { destructiveHint: false },
    run: ({ title, labels }) => `${title} [${labels.join()}]`,
  }),
  tool({
    name: "weather",
    description: "Forecast for a city",
    input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    output: { type: "object", properties: { celsius: { type: "number" } }, required: ["celsius"] },
    run: () => ({ celsius: 21 }),
  }),
  tool({
    name: "payroll_export",
    description: "Export the salaries of all employees",
    scopes: ["write"],
    run: () => "secret salaries",
  }),
  tool({
    name: "refuse",
    description: "Fails with a reason",
    run() {
      throw new ToolError("Ask for less");
    },
  }),
  tool({
    name: "confirm_order",
    description: "Orders after a confirmation",
    async run(_, call) {
      await call.progress(1, 2, "asking");
      const { action } = await call.elicit({ message: "Sure?", schema: { type: "object", properties: {} } });
      return `order: ${action}`;
    },
  }),
  tool({ name: "long_job", description: "Takes long", task: "optional", run: () => "job done" }),
];

/** A tool that the app of another tool calls. */
const forApp = tool({
  name: "refresh_forecast",
  description: "Forecast for a city, again",
  _meta: { ui: { resourceUri: "ui://weather", visibility: ["app"] } },
  run: () => "refreshed",
});

const serve = (options: SearchModeOptions = {}, more: Parameters<typeof newServer>[0] = {}) =>
  newServer({ definitions: tools, arrange: searchMode(options), ...more });

type Server = ReturnType<typeof serve>["server"];
const callTool = async (
  server: Server,
  name: string,
  args: object,
  options: Parameters<typeof modern>[3] = {},
): Promise<Message> => {
  const { answer } = await modern(server, "tools/call", { name, arguments: args }, options);
  return answer.result ?? answer;
};
const textOf = async (...given: Parameters<typeof callTool>): Promise<string> =>
  (await callTool(...given)).content[0].text;
const listNames = async (server: Server): Promise<string[]> =>
  (await modern(server, "tools/list")).answer.result.tools.map((each: Message) => each.name);

test("clients are offered three tools and the pinned ones", async () => {
  assert.equal(await listNames(serve().server), ["search_tools", "describe_tool", "call_tool"]);
  const names = { search: "find", describe: "explain", call: "use" };
  const { server } = serve({ pinned: ["weather", "not_there_yet"], names });
  assert.equal(await listNames(server), ["find", "explain", "use", "weather"]);
  assert.match(await textOf(server, "find", { query: "weather" }), /^weather: /);
  assert.is(await textOf(server, "use", { name: "weather", arguments: { city: "Oslo" } }), '{"celsius":21}');
});

test("a search answers names and the first sentence, in order", async () => {
  const { server } = serve();
  const text = await textOf(server, "search_tools", { query: "report issues", limit: 1 });
  assert.is(text, "github_create_issue: Create a new issue in a repository");
  const detail = await textOf(server, "search_tools", { query: "report issues", limit: 1, detail: true });
  assert.match(detail, /Needs a token\./);
  assert.match(detail, /"labels"/);
  assert.match(await textOf(server, "search_tools", { query: "zzz" }), /Nothing was found/);
});

test("a description has the schemas and annotations that tools/list would have", async () => {
  const listed = (await modern(newServer({ definitions: tools }).server, "tools/list")).answer.result.tools;
  const { server } = serve();
  for (const name of ["github_create_issue", "weather"]) {
    const described = JSON.parse(await textOf(server, "describe_tool", { name }));
    assert.equal(described, listed.find((each: Message) => each.name === name));
  }
});

test("a tool whose scopes the caller lacks is neither found, described nor called, and answers as unknown", async () => {
  const { server } = serve();
  const reader = { headers: { authorization: "Bearer reader" } };
  const search = { query: "export the salaries of all employees payroll_export", limit: 50 };
  for (const options of [{}, reader]) {
    assert.not.match(await textOf(server, "search_tools", search, options), /payroll/);
    for (const name of ["describe_tool", "call_tool"]) {
      const hidden = await callTool(server, name, { name: "payroll_export" }, options);
      const unknown = await callTool(server, name, { name: "payroll_exporu" }, options);
      assert.is(hidden.isError, true);
      assert.equal(hidden, JSON.parse(JSON.stringify(unknown).replace("exporu", "export")));
    }
  }
  const writer = { headers: WRITER };
  assert.match(await textOf(server, "search_tools", search, writer), /^payroll_export/);
  assert.is(await textOf(server, "call_tool", { name: "payroll_export" }, writer), "secret salaries");
});

test("a call validates, returns results and errors as a direct call", async () => {
  const direct = newServer({ definitions: tools }).server;
  const { server } = serve();
  for (
    const [name, given] of [
      ["weather", { city: "Oslo" }],
      ["weather", {}],
      ["weather", { city: 1 }],
      ["github_create_issue", { title: "Bug" }],
      ["github_create_issue", { title: 1, labels: [2] }],
      ["refuse", {}],
    ] as const
  ) {
    const expected = await callTool(direct, name, given);
    assert.equal(await callTool(server, "call_tool", { name, arguments: given }), expected, name);
  }
  assert.is(
    (await callTool(server, "call_tool", { name: "github_create_issue", arguments: { title: "Bug" } }))
      .content[0].text,
    "Bug []",
  );
});

test("middleware, and the event of the call, have the name of the tool", async () => {
  const seen: unknown[] = [];
  const middleware: Middleware[] = [({ name, input }, _, next) => {
    seen.push([name, input]);
    return next();
  }];
  const { server, events } = serve({}, { definitions: group({ middleware }, tools), middleware });
  await callTool(server, "call_tool", { name: "weather", arguments: { city: "Oslo" } });
  assert.equal(seen, [["weather", { city: "Oslo" }], ["weather", { city: "Oslo" }]]);
  const called = events.flatMap((event) => event.type === "tool_called" ? [event.name] : []);
  assert.equal(called, ["weather", "call_tool"]);
});

test("2026-07-28: a tool that asks the user is repeated with the answer", async () => {
  const { server } = serve();
  const params = { name: "call_tool", arguments: { name: "confirm_order" } };
  const options = { capabilities: { elicitation: { form: {} } } };
  const first = (await modern(server, "tools/call", params, options)).answer.result;
  assert.is(first.resultType, "input_required");
  const [key] = Object.keys(first.inputRequests);
  const retry = {
    ...params,
    requestState: first.requestState,
    inputResponses: { [key!]: { action: "accept", content: {} } },
  };
  const second = (await modern(server, "tools/call", retry, options)).answer.result;
  assert.is(second.content[0].text, "order: accept");
});

test("progress of the tool reaches the client", async () => {
  const { server } = serve();
  const { messages } = await modern(
    server,
    "tools/call",
    { name: "call_tool", arguments: { name: "confirm_order" } },
    { meta: { progressToken: "p" } },
  );
  assert.equal(messages[0].params, { progressToken: "p", progress: 1, total: 2, message: "asking" });
  assert.is(messages.at(-1).error.code, -32021);
});

test("a tool with a task becomes a task for a client that supports them", async () => {
  const { server } = serve();
  const options = { capabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } } };
  const params = { name: "call_tool", arguments: { name: "long_job" } };
  const task = (await modern(server, "tools/call", params, options)).answer.result;
  assert.is(task.resultType, "task");
  let state: Message;
  do state = (await modern(server, "tasks/get", { taskId: task.taskId }, options)).answer.result; while (
    state.status === "working"
  );
  assert.is(state.result.content[0].text, "job done");
  assert.is(await textOf(server, "call_tool", { name: "long_job" }), "job done");
  // A tool without one still answers itself.
  assert.is(await textOf(server, "call_tool", { name: "refuse" }, options), "Ask for less");
});

test("a tool that requires tasks refuses a client without them", async () => {
  const task = { support: "required" } as const;
  const { server } = serve({}, {
    definitions: [tool({ name: "long", description: "Takes long", task, run: () => "done" })],
  });
  const { error } = await callTool(server, "call_tool", { name: "long" });
  assert.is(error.code, -32021);
});

const source: SkillSource = {
  list: () => Promise.resolve({ skills: [], omitted: { shadowed: 0, older: false } }),
  load: () => Promise.resolve(undefined),
  read: () => Promise.resolve(undefined),
  find: () => Promise.resolve(undefined),
  page: (principal) =>
    Promise.resolve({
      entries: principal?.client === "writer"
        ? [{
          path: ["pdf-forms"],
          frontMatter: { name: "pdf-forms", description: "Fills PDF forms. Use it for applications." },
          isPublic: false,
          files: () => Promise.resolve([]),
          read: () => Promise.resolve(undefined),
        }]
        : [],
      next: undefined,
    }),
};

test("skills that the caller may see are found, with how to read them", async () => {
  const more = { extensions: [skillsExtension(source)] };
  const query = { query: "fill a pdf form", limit: 1 };
  const writer = { headers: WRITER };
  const { server } = serve({}, more);
  const text = await textOf(server, "search_tools", query, writer);
  assert.match(text, /^skill pdf-forms: Fills PDF forms \(read it by call_tool with \{"name":"load_skill"/);
  assert.not.match(await textOf(server, "search_tools", query), /pdf-forms/);
  const pinned = serve({ pinned: ["load_skill"] }, more).server;
  assert.match(await textOf(pinned, "search_tools", query, writer), /read it by load_skill with/);
});

test("skills are found only by callers who may load them", async () => {
  const skills = skillsExtension(source).definitions([]);
  const definitions = group({ scopes: ["admin"] }, [skills]);
  const { server } = serve({}, { definitions: [...definitions, ...tools] });
  const query = { query: "fill a pdf form", limit: 50 };
  assert.not.match(await textOf(server, "search_tools", query, { headers: WRITER }), /pdf-forms/);
});

test("a hook's ranking is combined; it gets and can name only what the caller may use", async () => {
  const offered: string[] = [];
  const hidden: Message = { kind: "tool", name: "payroll_export", description: "" };
  const { server } = serve({
    rank: (query, entries) => {
      offered.push(...entries.map((each) => each.name));
      return query === "umbrella" ? [hidden, ...entries.filter((each) => each.name === "weather")] : [];
    },
  });
  assert.is(await textOf(server, "search_tools", { query: "umbrella" }), "weather: Forecast for a city");
  assert.not.ok(offered.includes("payroll_export"));
  assert.match(await textOf(server, "search_tools", { query: "report issues" }), /^github_create_issue/);
});

test("when the hook fails, the words alone decide and the fault is reported", async () => {
  const { server, events } = serve({ rank: () => Promise.reject(new Error("no network")) });
  assert.match(await textOf(server, "search_tools", { query: "report issues" }), /^github_create_issue/);
  assert.ok(events.some((event) => event.type === "fault"));
});

test("a replaced definition is found at once", async () => {
  const { server } = serve();
  await server.replace([tool({ name: "umbrella", description: "Opens an umbrella", run: () => "open" })]);
  assert.match(await textOf(server, "search_tools", { query: "umbrella" }), /^umbrella: /);
  assert.match(await textOf(server, "describe_tool", { name: "weather" }), /Unknown tool/);
});

test("sessions of 2025-11-25 call through it too", async () => {
  const { server } = serve();
  const open = await session(server);
  const { answer } = await open.request("tools/call", {
    name: "call_tool",
    arguments: { name: "weather", arguments: { city: "Oslo" } },
  });
  assert.equal(answer.result.structuredContent, { celsius: 21 });
});

test("an invalid or duplicate hidden tool is refused at start, and so is an invalid limit", () => {
  assert.throws(() => serve({}, { definitions: [tools[0]!, tools[0]!] }), /twice/);
  assert.throws(() => searchMode({ limit: 0 }), /whole number/);
});

test("a tool for an app alone is listed for its app, but the model neither finds nor calls it", async () => {
  const { post } = newServer({ definitions: [...tools, forApp], arrange: searchMode() });
  const call = async (name: string, given: object) =>
    (await post({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: given } })).body
      .result;
  const { body } = await post({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  assert.ok(body.result.tools.some(({ name }: { name: string }) => name === "refresh_forecast"));
  const found = (await call("search_tools", { query: "forecast" })).content[0].text;
  assert.match(found, /weather/);
  assert.not.match(found, /refresh_forecast/);
  assert.is((await call("call_tool", { name: "refresh_forecast" })).isError, true);
  assert.is((await call("refresh_forecast", {})).content[0].text, "refreshed");
});

test.run();
