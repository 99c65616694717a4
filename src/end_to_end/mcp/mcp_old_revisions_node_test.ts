/**
 * Clients of 2024-11-05, 2025-03-26 and 2025-06-18 over every transport of their revision: they receive only what their
 * revision defines.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { RunningServer } from "../../runtime/server.ts";
import { entries } from "../test_entries.ts";
import type { Loose } from "./test_feature_client.ts";
import { connectOld, type OldClient, overHttp, overSse, overStdio } from "./test_old_client.ts";
import { serveFeatures, STDIO } from "./test_feature_serve.ts";
import { codeOf, textOf, TOOLS } from "./test_feature_step.ts";

/** The `initialize` requests of clients of each revision. */
const INITIALIZE: Readonly<Record<string, Loose>> = {
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
      // Some clients sent booleans instead of objects.
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

type TransportName = "http" | "sse" | "stdio";
const CASES: readonly (readonly [revision: string, transport: TransportName])[] = [
  ["2024-11-05", "sse"],
  ["2024-11-05", "stdio"],
  ["2025-03-26", "http"],
  ["2025-03-26", "stdio"],
  ["2025-06-18", "http"],
  ["2025-06-18", "stdio"],
];

function transportOf(
  revision: string,
  transport: TransportName,
  server: RunningServer | undefined,
): Parameters<typeof connectOld>[0] {
  if (transport === "stdio") return overStdio(STDIO);
  if (transport === "sse") return overSse(server!.url);
  return overHttp(server!.url, revision >= "2025-06-18" ? revision : undefined);
}

/** Every member name in a value, at any depth, except below schemas and `_meta`. */
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

async function listAll(client: OldClient, method: string, member: string): Promise<Loose[]> {
  const all: Loose[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.request(method, cursor === undefined ? undefined : { cursor });
    all.push(...page[member]);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return all;
}

const call = (client: OldClient, name: string, args: Loose = {}, meta?: Loose): Promise<Loose> =>
  client.request("tools/call", { name, arguments: args, ...(meta && { _meta: meta }) });

for (const entry of Object.keys(entries)) {
  for (const [revision, transport] of CASES) {
    if (transport === "stdio" && entry !== Object.keys(entries)[0]) continue;
    const name = `${revision} over ${transport}${transport === "stdio" ? "" : `, ${entry}`}`;
    const test = suite(name);
    let server: RunningServer | undefined;
    let client: OldClient;
    let initialized: Loose;

    test.before(async () => {
      server = transport === "stdio" ? undefined : await serveFeatures(entry);
      [client, initialized] = await connectOld(
        transportOf(revision, transport, server),
        INITIALIZE[revision],
      );
    });
    test.after(async () => {
      await client.close();
      await server?.close();
    });

    test(`${name}: the initialize result has only members of the revision`, () => {
      assert.is(initialized.protocolVersion, revision);
      const known = ["name", ...(revision >= "2025-06-18" ? ["title"] : []), "version"];
      assert.equal(Object.keys(initialized.serverInfo), known);
      assert.is(initialized.instructions, "Look at everything.");
      assert.is("completions" in initialized.capabilities, revision >= "2025-03-26");
      assert.not.ok("extensions" in initialized.capabilities);
      for (const newer of ["resultType", "_meta", "ttlMs"]) assert.not.ok(newer in initialized, newer);
    });

    test(`${name}: lists have only members of the revision`, async () => {
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
      assert.ok(members.has("priority"), "annotations exist since 2024-11-05");
    });

    test(`${name}: results have only content of the revision, and text instead of newer content`, async () => {
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
      assert.is(await codeOf(call(client, "missing")), -32602);
      assert.is(await codeOf(client.request("resources/read", { uri: "tour://missing" })), -32002);
      assert.is(await codeOf(client.request("server/missing")), -32601);
    });

    test(`${name}: progress and log messages have only members of the revision`, async () => {
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

    test(`${name}: the server sends only requests that the client supports`, async () => {
      client.answers["sampling/createMessage"] = ({ messages, maxTokens }) => {
        assert.is(maxTokens, 10);
        return { role: "assistant", content: messages[0].content, model: "echo" };
      };
      assert.is(JSON.parse(textOf(await call(client, "ask_model")))[1], "Say something");
      assert.is(
        (await call(client, "ask_tools")).isError,
        true,
        "sampling with tools exists since 2025-11-25",
      );
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
          assert.equal(Object.keys(params), ["message", "requestedSchema"], "mode exists since 2025-11-25");
          return { action: "accept", content: { name: "Old" } };
        };
        assert.is(JSON.parse(textOf(await form)).content.colour, "green");
      }
      const page = await call(client, "ask_url");
      assert.is(page.isError, true, "URL elicitation exists since 2025-11-25");
    });

    test(`${name}: notifications/cancelled aborts the call`, async () => {
      const request = { jsonrpc: "2.0", id: "c", method: "tools/call" };
      const params = { name: "hang", arguments: { key: "old" }, _meta: { progressToken: 7 } };
      await client.send({ ...request, params });
      await client.notifications.next("notifications/progress");
      await client.notify("notifications/cancelled", { requestId: "c", reason: "enough" });
      assert.is(textOf(await call(client, "aborted", { key: "old" })), "AbortError");
    });

    test(`${name}: subscriptions notify, and completion answers`, async () => {
      const uri = "tour://notes/today";
      assert.equal(await client.request("resources/subscribe", { uri }), {});
      await call(client, "touch", { uri });
      assert.equal(await client.notifications.next("notifications/resources/updated"), { uri });
      assert.equal(await client.request("resources/unsubscribe", { uri }), {});
      const params = {
        ref: { type: "ref/prompt", name: "review" },
        argument: { name: "language", value: "py" },
      };
      assert.equal((await client.request("completion/complete", params)).completion.values, ["python"]);
      await call(client, "grow");
      await client.notifications.next("notifications/tools/list_changed");
      assert.is((await listAll(client, "tools/list", "tools")).length, TOOLS.length + 1);
    });

    // Batches exist in this revision alone.
    const testBatch = revision === "2025-03-26" ? test : () => {};
    testBatch(`${name}: each request of a batch is answered`, async () => {
      await client.send(
        [
          { jsonrpc: "2.0", id: "b1", method: "ping" },
          { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "unknown" } },
          { jsonrpc: "2.0", id: "b2", method: "tools/call", params: { name: "text" } },
        ],
        "b1",
        "b2",
      );
    });

    test(`${name}: the server reports no fault`, async () => {
      assert.is(textOf(await call(client, "faults")), "[]");
    });

    test.run();
  }
}

const test = suite("unknown revisions");

test("a client with an unknown revision gets the newest revision that has initialize", async () => {
  const request = structuredClone(INITIALIZE["2025-06-18"]);
  request.params.protocolVersion = "2030-01-01";
  const [client, { protocolVersion }] = await connectOld(overStdio(STDIO), request);
  assert.is(protocolVersion, "2025-11-25");
  await client.close();
});

test.run();
