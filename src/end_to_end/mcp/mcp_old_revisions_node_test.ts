/**
 * Clients that speak 2024-11-05, 2025-03-26 or 2025-06-18 and nothing newer, over every transport of their time: they are
 * told what their revision knows, and nothing else.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { RunningServer } from "../../runtime/server.ts";
import { entries } from "../test_entries.ts";
import type { Loose } from "./test_feature_client.ts";
import { connectOld, type Old, overHttp, overSse, overStdio } from "./test_old_client.ts";
import { serveFeatures, STDIO } from "./test_feature_serve.ts";
import { codeOf, textOf, TOOLS } from "./test_feature_step.ts";

/** Messages as clients of the time sent them. */
const HELLOS: Readonly<Record<string, Loose>> = {
  "2024-11-05": {
    method: "initialize",
    params: {
      protocolVersion: "2024-11-05",
      capabilities: { sampling: {}, roots: { listChanged: true } },
      clientInfo: { name: "claude-ai", version: "0.1.0" },
    },
    jsonrpc: "2.0",
    id: 0,
  },
  "2025-03-26": {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: "2025-03-26",
      // Not all clients knew what is an object here.
      capabilities: { tools: true, prompts: false, sampling: {}, roots: { listChanged: true } },
      clientInfo: { name: "Visual Studio Code - Insiders", version: "1.100.0-insider" },
    },
  },
  "2025-06-18": {
    jsonrpc: "2.0",
    id: "init",
    method: "initialize",
    params: {
      protocolVersion: "2025-06-18",
      capabilities: { roots: { listChanged: true }, sampling: {}, elicitation: {} },
      clientInfo: { name: "Visual Studio Code", title: "VS Code", version: "1.104.0" },
    },
  },
};

type Way = "http" | "sse" | "stdio";
const WAYS: readonly (readonly [revision: string, way: Way])[] = [
  ["2024-11-05", "sse"],
  ["2024-11-05", "stdio"],
  ["2025-03-26", "http"],
  ["2025-03-26", "stdio"],
  ["2025-06-18", "http"],
  ["2025-06-18", "stdio"],
];

function transportOf(
  revision: string,
  way: Way,
  server: RunningServer | undefined,
): Parameters<typeof connectOld>[0] {
  if (way === "stdio") return overStdio(STDIO);
  if (way === "sse") return overSse(server!.url);
  return overHttp(server!.url, revision >= "2025-06-18" ? revision : undefined);
}

/** Every member name in a value, at whatever depth; names of properties in schemas aside. */
function membersOf(value: unknown, found: Set<string> = new Set()): Set<string> {
  if (Array.isArray(value)) { for (const each of value) membersOf(each, found); }
  else if (typeof value === "object" && value !== null) {
    for (const [name, each] of Object.entries(value)) {
      found.add(name);
      if (name !== "inputSchema" && name !== "outputSchema" && name !== "_meta") membersOf(each, found);
    }
  }
  return found;
}

async function listAll(client: Old, method: string, member: string): Promise<Loose[]> {
  const all: Loose[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.request(method, cursor === undefined ? undefined : { cursor });
    all.push(...page[member]);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return all;
}

const call = (client: Old, name: string, args: Loose = {}, meta?: Loose): Promise<Loose> =>
  client.request("tools/call", { name, arguments: args, ...(meta && { _meta: meta }) });

for (const entry of Object.keys(entries)) {
  for (const [revision, way] of WAYS) {
    if (way === "stdio" && entry !== Object.keys(entries)[0]) continue;
    const name = `${revision} over ${way}${way === "stdio" ? "" : `, ${entry}`}`;
    const test = suite(name);
    let server: RunningServer | undefined;
    let client: Old;
    let told: Loose;

    test.before(async () => {
      server = way === "stdio" ? undefined : await serveFeatures(entry);
      [client, told] = await connectOld(transportOf(revision, way, server), HELLOS[revision]);
    });
    test.after(async () => {
      await client.close();
      await server?.close();
    });

    test(`${name}: the handshake says what the revision knows`, () => {
      assert.is(told.protocolVersion, revision);
      const known = ["name", ...(revision >= "2025-06-18" ? ["title"] : []), "version"];
      assert.equal(Object.keys(told.serverInfo), known);
      assert.is(told.instructions, "Look at everything.");
      assert.is("completions" in told.capabilities, revision >= "2025-03-26");
      assert.not.ok("extensions" in told.capabilities);
      for (const newer of ["resultType", "_meta", "ttlMs"]) assert.not.ok(newer in told, newer);
    });

    test(`${name}: ping, and lists without what came later`, async () => {
      assert.equal(await client.request("ping"), {});
      const tools = await listAll(client, "tools/list", "tools");
      assert.equal(tools.map((tool) => tool.name), TOOLS);
      const resources = await listAll(client, "resources/list", "resources");
      const templates = await listAll(client, "resources/templates/list", "resourceTemplates");
      const prompts = await listAll(client, "prompts/list", "prompts");
      const members = membersOf([tools, resources, templates, prompts]);
      const since: Record<string, string> = {
        readOnlyHint: "2025-03-26",
        title: "2025-06-18",
        outputSchema: "2025-06-18",
      };
      for (const [member, began] of Object.entries(since)) {
        assert.is(members.has(member), revision >= began, member);
      }
      for (const newer of ["icons", "execution", "ttlMs", "cacheScope", "resultType"]) {
        assert.not.ok(members.has(newer), newer);
      }
      assert.ok(members.has("priority"), "resources had annotations from the first");
    });

    test(`${name}: results, in words where the revision has no other way`, async () => {
      assert.equal(await call(client, "text"), {
        content: [{ type: "text", text: "plain words, ünïcödé ✓" }],
      });
      assert.is((await call(client, "image")).content[0].type, "image");
      assert.is((await call(client, "audio")).content[0].type, revision >= "2025-03-26" ? "audio" : "text");
      const [, link] = (await call(client, "link")).content;
      if (revision >= "2025-06-18") assert.is(link.type, "resource_link");
      else assert.equal(link, { type: "text", text: "The logo: tour://logo" });
      const weather = await call(client, "weather", { city: "Oslo" });
      assert.is("structuredContent" in weather, revision >= "2025-06-18");
      assert.is(JSON.parse(textOf(weather)).sky, "clear");
      assert.is((await call(client, "refuse")).isError, true);
      assert.is(await codeOf(call(client, "nothing")), -32602);
      assert.is(await codeOf(client.request("resources/read", { uri: "tour://nothing" })), -32002);
      assert.is(await codeOf(client.request("server/nothing")), -32601);
    });

    test(`${name}: progress and log messages`, async () => {
      const counted = call(client, "count", { key: "old" }, { progressToken: "p" });
      for (const progress of [1, 2, 3]) {
        const step = await client.notifications.next("notifications/progress");
        const message = revision >= "2025-03-26" ? { message: `step ${progress}` } : {};
        assert.equal(step, { progressToken: "p", progress, total: 3, ...message });
      }
      await call(client, "release", { key: "old" });
      await counted;
      assert.equal(await client.request("logging/setLevel", { level: "error" }), {});
      await call(client, "chatter");
      assert.equal(client.notifications.take("notifications/message"), [
        { level: "error", logger: "tour", data: { said: "error" } },
      ]);
    });

    test(`${name}: what the server asks, as far as the client can`, async () => {
      client.answers["sampling/createMessage"] = ({ messages, maxTokens }) => {
        assert.is(maxTokens, 10);
        return { role: "assistant", content: messages[0].content, model: "echo" };
      };
      assert.is(JSON.parse(textOf(await call(client, "ask_model")))[1], "Say something");
      assert.is((await call(client, "ask_tools")).isError, true, "tools for models came with 2025-11-25");
      client.answers["roots/list"] = () => ({ roots: [{ uri: "file:///old" }] });
      assert.equal(JSON.parse(textOf(await call(client, "ask_roots"))), [{ uri: "file:///old" }]);
      await client.notify("notifications/roots/list_changed");
      const form = call(client, "ask_form");
      if (revision < "2025-06-18") {
        const { isError, content: [{ text }] } = await form;
        assert.is(isError, true);
        assert.match(text, "elicitation");
      } else {
        client.answers["elicitation/create"] = (params) => {
          assert.equal(Object.keys(params), ["message", "requestedSchema"], "modes came later");
          return { action: "accept", content: { name: "Old" } };
        };
        assert.is(JSON.parse(textOf(await form)).content.colour, "green");
      }
      const page = await call(client, "ask_url");
      assert.is(page.isError, true, "which came with 2025-11-25");
    });

    test(`${name}: cancellation`, async () => {
      const request = { jsonrpc: "2.0", id: "c", method: "tools/call" };
      const params = { name: "hang", arguments: { key: "old" }, _meta: { progressToken: 7 } };
      await client.send({ ...request, params });
      await client.notifications.next("notifications/progress");
      await client.notify("notifications/cancelled", { requestId: "c", reason: "enough" });
      assert.is(textOf(await call(client, "aborted", { key: "old" })), "AbortError");
    });

    test(`${name}: subscriptions and completion`, async () => {
      const uri = "tour://notes/today";
      assert.equal(await client.request("resources/subscribe", { uri }), {});
      await call(client, "touch", { uri });
      assert.equal(await client.notifications.next("notifications/resources/updated"), { uri });
      assert.equal(await client.request("resources/unsubscribe", { uri }), {});
      const asked = {
        ref: { type: "ref/prompt", name: "review" },
        argument: { name: "language", value: "py" },
      };
      assert.equal((await client.request("completion/complete", asked)).completion.values, ["python"]);
      await call(client, "grow");
      await client.notifications.next("notifications/tools/list_changed");
      assert.is((await listAll(client, "tools/list", "tools")).length, TOOLS.length + 1);
    });

    test(`${name}: batches, in the one revision that has them`, async () => {
      if (revision !== "2025-03-26") return;
      await client.send(
        [
          { jsonrpc: "2.0", id: "b1", method: "ping" },
          { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "none" } },
          { jsonrpc: "2.0", id: "b2", method: "tools/call", params: { name: "text" } },
        ],
        "b1",
        "b2",
      );
    });

    test(`${name}: nothing went wrong on the server`, async () => {
      assert.is(textOf(await call(client, "faults")), "[]");
    });

    test.run();
  }
}

const test = suite("unknown revisions");

test("a client of tomorrow is offered the newest revision with a handshake", async () => {
  const hello = structuredClone(HELLOS["2025-06-18"]);
  hello.params.protocolVersion = "2030-01-01";
  const [client, { protocolVersion }] = await connectOld(overStdio(STDIO), hello);
  assert.is(protocolVersion, "2025-11-25");
  await client.close();
});

test.run();
