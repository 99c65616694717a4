import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ConfigurationError } from "./configuration.ts";
import { findMcpServers, parseMcpServers } from "./parse_configuration.ts";

const test = suite("gateway/upstream/parse_configuration");
const VARIABLES: Record<string, string> = { TOKEN: "secret", EMPTY: "" };
const parse = (servers: unknown) => parseMcpServers(servers, (name) => VARIABLES[name]);

/** The places of the problems. */
function problemsOf(servers: unknown): string[] {
  try {
    parse(servers);
  } catch (error) {
    assert.instance(error, ConfigurationError);
    return (error as ConfigurationError).problems.map((each) => each.split(": ")[0]!);
  }
  return [];
}

test("reads what MCP clients read", () => {
  const [stdio, http, sse] = parse({
    files: {
      command: "npx",
      args: ["-y", "server"],
      env: { TOKEN: "${TOKEN}" },
      cwd: "/tmp",
    },
    github: {
      type: "http",
      url: "https://a.example/mcp?x=${NONE:-1}",
      headers: { Authorization: "Bearer ${env:TOKEN}" },
    },
    old: {
      type: "sse",
      url: "http://127.0.0.1:1/sse",
      tools: ["get_*"],
      timeout: 5,
      shared: false,
    },
    off: { command: "x", disabled: true },
  });
  assert.equal(stdio!.target, {
    type: "stdio",
    command: "npx",
    args: ["-y", "server"],
    env: { TOKEN: "secret" },
    cwd: "/tmp",
  });
  assert.equal(http!.target, {
    type: "http",
    url: "https://a.example/mcp?x=1",
    headers: { Authorization: "Bearer secret" },
  });
  assert.equal(
    [
      sse!.target.type,
      sse!.tools,
      sse!.timeout,
      sse!.shared,
      sse!.maxConcurrent,
    ],
    ["sse", { allow: ["get_*"], deny: [] }, 5000, false, 32],
  );
  assert.is(parse({ a: { url: "https://a.example" } })[0]!.target.type, "auto");
  // Cline, Roo and Kiro, and Gemini.
  for (const own of [{ autoApprove: ["a"] }, { alwaysAllow: [] }, { trust: true }]) {
    assert.is(parse({ a: { command: "x", ...own } }).length, 1);
    assert.is(parse({ a: { url: "https://a.example", ...own } }).length, 1);
  }
});

test("names the place of every problem", () => {
  for (
    const [server, places] of [
      [[], ["mcpServers.x"]],
      [{}, ["mcpServers.x"]],
      [{ command: "a", url: "https://a.example" }, ["mcpServers.x"]],
      [{ command: "" }, ["mcpServers.x.command"]],
      [{ command: "a", args: [1] }, ["mcpServers.x.args"]],
      [{ command: "a", env: { A: 1 } }, ["mcpServers.x.env.A"]],
      [{ command: "a", env: { A: "${UNSET}" } }, ["mcpServers.x.env.A"]],
      [{ command: "a", env: { A: "${input:token}" } }, ["mcpServers.x.env.A"]],
      [{ command: "a", headers: {} }, ["mcpServers.x.headers"]],
      [{ type: "grpc", url: "https://a.example" }, ["mcpServers.x.type"]],
      [{ type: "http", command: "a" }, ["mcpServers.x.url"]],
      [{ type: "stdio" }, ["mcpServers.x.command"]],
      [{ url: "ftp://a.example" }, ["mcpServers.x.url"]],
      [{ url: "https://u:p@a.example" }, ["mcpServers.x.url"]],
      [{ url: "https://a.example/#f" }, ["mcpServers.x.url"]],
      [{ url: "https://a.example", headers: { "a b": "c" } }, [
        "mcpServers.x.headers.a b",
      ]],
      [{ url: "https://a.example", headers: { "Mcp-Session-Id": "c" } }, [
        "mcpServers.x.headers.Mcp-Session-Id",
      ]],
      [{ url: "https://a.example", headers: { a: "b\r\nc" } }, [
        "mcpServers.x.headers.a",
      ]],
      [{ url: "https://a.example", timeout: 0 }, ["mcpServers.x.timeout"]],
      [{ url: "https://a.example", scopes: ["read write"] }, ["mcpServers.x.scopes"]],
      [{ url: "https://a.example", revision: "2025-11-26" }, ["mcpServers.x.revision"]],
      [{ url: "https://a.example", maxConcurrent: 1.5 }, [
        "mcpServers.x.maxConcurrent",
      ]],
      [{ url: "https://a.example", shared: "yes" }, ["mcpServers.x.shared"]],
      [{ url: "https://a.example", prefix: "a b" }, ["mcpServers.x.prefix"]],
      [{ url: "https://a.example", auth: { type: "oauht" } }, ["mcpServers.x.auth.type"]],
      [{ url: "https://a.example", auth: { type: "oauth" }, headers: { authorization: "x" } }, [
        'mcpServers.x.headers["authorization"]',
      ]],
      [{ command: "a", auth: { type: "none" } }, ["mcpServers.x.auth"]],
      [{ url: "https://a.example", tools: { only: [] } }, [
        "mcpServers.x.tools.only",
      ]],
      [{ url: "https://a.example", uri: "x", timeout: -1 }, [
        "mcpServers.x.uri",
        "mcpServers.x.timeout",
      ]],
    ] as const
  ) assert.equal(problemsOf({ x: server }), places, JSON.stringify(server));
  assert.equal(problemsOf({ "": { command: "a" } }), ["mcpServers."]);
  assert.equal(
    problemsOf({
      a: { command: "a", prefix: "x" },
      b: { command: "b", prefix: "x" },
    }),
    ["mcpServers.b.prefix"],
  );
  const named = { url: "https://a.example" };
  assert.equal(problemsOf({ a: { ...named, prefix: "b" }, b: named }), ["mcpServers.b.prefix"]);
  const plain = { ...named, prefix: "" };
  assert.equal(problemsOf({ a: plain, b: plain, c: { ...named, prefix: "a" } }), []);
  assert.equal(problemsOf({ a: plain, b: plain, c: { ...named, prefix: "b" } }), ["mcpServers.c.prefix"]);
  assert.equal(problemsOf(undefined), ["mcpServers"]);
});

test("an error has no value of a variable", () => {
  try {
    parse({ x: { url: "${TOKEN}" } });
    assert.unreachable();
  } catch (error) {
    assert.not.match((error as Error).message, "secret");
  }
});

test("finds the servers in the files of clients", () => {
  assert.equal(findMcpServers({ mcpServers: { a: 1 } }), { a: 1 });
  assert.equal(findMcpServers({ servers: { a: 1 }, inputs: [] }), { a: 1 });
  assert.throws(
    () => findMcpServers([]),
    (error: unknown) => error instanceof ConfigurationError,
  );
});

test.run();
