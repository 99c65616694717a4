/**
 * What the runner detects of a server that declares no features, by JSON-RPC requests, MCP handshakes and an
 * authorization request.
 *
 * @module
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { openTarget } from "./open_target.ts";
import type { JsonObject } from "../vector/vector_file.ts";

const test = suite("probe");
const folder = mkdtempSync(join(tmpdir(), "conformance-"));
test.after(() => rmSync(folder, { recursive: true, force: true }));

type Answer = (call: JsonObject) => JsonObject;

/** Detects the features of a server that answers each message so. */
async function detect(folder: string, answer: Answer): Promise<{ features: string[]; notes: string }> {
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const body = text === "" ? undefined : JSON.stringify({ jsonrpc: "2.0", ...answer(JSON.parse(text)) });
    response.writeHead(body === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(body);
  });
  const url = await listen(server);
  const target = await openTarget({ target: url, suiteFolders: new Set([folder]) });
  await target.close();
  server.close();
  return { features: [...target.features], notes: (target.notes ?? []).join("\n") };
}

function listen(server: Server): Promise<string> {
  return new Promise((resolve) =>
    server.listen(
      0,
      "127.0.0.1",
      () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`),
    )
  );
}

const METHODS: Readonly<Record<string, (params: unknown) => unknown>> = {
  subtract: (params) =>
    Array.isArray(params)
      ? params[0] - params[1]
      : Number((params as JsonObject)["minuend"]) - Number((params as JsonObject)["subtrahend"]),
  sum: (params) => (params as number[]).reduce((sum, each) => sum + each, 0),
  get_data: () => ["hello", 5],
  update: () => null,
  notify_hello: () => null,
  notify_sum: () => null,
};

const answerWith = (methods: typeof METHODS): Answer => ({ id, method, params }) => {
  const found = methods[String(method)];
  return found ? { id, result: found(params) } : { id, error: { code: -32601, message: "Method not found" } };
};

test("example methods are claimed if there is each of them", async () => {
  const all = await detect("jsonrpc", answerWith(METHODS));
  assert.ok(all.features.includes("example_methods"), all.notes);
  for (const missing of Object.keys(METHODS)) {
    const { [missing]: _, ...others } = METHODS;
    const { features, notes } = await detect("jsonrpc", answerWith(others));
    assert.ok(features.includes("jsonrpc"), missing);
    assert.not(features.includes("example_methods"), missing);
    if (missing !== "subtract") assert.match(notes, missing);
  }
});

const initialize: Answer = ({ id, method, params }) =>
  method === "initialize"
    ? {
      id,
      result: {
        protocolVersion: (params as JsonObject)["protocolVersion"],
        capabilities: { tools: {} },
        serverInfo: { name: "x", version: "1" },
      },
    }
    : { id, error: { code: -32601, message: "Method not found" } };

test("a server that refuses authorization requests without PKCE requires it of every client", async () => {
  for (const [error, expected] of [["invalid_request", true], ["invalid_scope", false], [undefined, false]]) {
    const path = join(folder, `${error}.json`);
    const answer = `https://app.example/cb?${error === undefined ? "code=c" : `error=${error}`}`;
    const confidential = { id: "web", secret: "s", redirect_uri: "https://app.example/cb" };
    const description = {
      base: "http://127.0.0.1:9",
      endpoints: { authorization: "/authorize", token: "/token" },
      clients: { confidential },
      users: { alice: { name: "alice" } },
      scope: "profile",
      procedures: { login: { cookies: {} }, authorize: [{ let: { answer: { value: answer } } }] },
    };
    writeFileSync(path, JSON.stringify(description));
    const target = await openTarget({ target: path, suiteFolders: new Set(["oauth"]) });
    await target.close();
    assert.is(target.features.has("pkce_always"), expected, String(error));
  }
});

test("a server on loopback must refuse other origins", async () => {
  const { features, notes } = await detect("mcp", initialize);
  assert.ok(features.includes("mcp_2025-11-25"), notes);
  assert.ok(features.includes("mcp_origin"), notes);
});

test("the report names what is wrong with the response to initialize", async () => {
  const notes = async (answer: Answer): Promise<string> => (await detect("mcp", answer)).notes;
  assert.match(
    await notes((call) => ({ ...initialize(call), id: String(call["id"]) })),
    /"initialize" .*id.* "1"/,
  );
  assert.match(
    await notes(({ id }) => ({ id, error: { code: -32099, message: "No" } })),
    /"initialize" .*-32099/,
  );
  assert.match(
    await notes(({ id }) => ({ id, result: { protocolVersion: "1999-01-01" } })),
    /"initialize" .*1999-01-01/,
  );
});

test.run();
