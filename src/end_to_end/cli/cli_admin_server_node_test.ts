import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Answering, refusal, startApi, type TestApiServer } from "../skills_clients/test_api_server.ts";
import { type CommandOutcome, runCommand } from "./test_command.ts";

/** `trivet … --url` with servers that answer as a test says. */
const test = suite("administration over HTTP: requests and errors");

const USER = { id: "user_1", username: "alice", name: "Alice", email: "", role: null, locked: null };

async function withApi(
  answering: Answering,
  work: (server: TestApiServer, run: (command: string) => Promise<CommandOutcome>) => Promise<void>,
): Promise<void> {
  const server = await startApi(answering);
  const variables = { TRIVET_URL: server.url, TRIVET_API_KEY: "the-key", TRIVET_TOKEN: undefined };
  try {
    await work(server, (command) => runCommand(command.split(" "), variables));
  } finally {
    await server.close();
  }
}

test("a list reads all pages, or as many members as wanted", async () => {
  const member = (n: number) => ({ ...USER, id: `user_${n}`, username: `u${n}` });
  await withApi(({ path }) => {
    const query = new URL(path, "http://h").searchParams;
    const from = Number(query.get("page") ?? "0");
    const to = Math.min(from + Number(query.get("limit")), 250);
    const data = Array.from({ length: to - from }, (_, i) => member(from + i));
    return [200, { data, has_more: to < 250, next_page: to < 250 ? String(to) : null }];
  }, async ({ seen }, run) => {
    const all = JSON.parse((await run("user list --json --search a&b")).stdout);
    assert.equal([all.data.length, all.has_more, all.next_page], [250, false, null]);
    assert.equal(seen.map(({ path }) => path), [
      "/admin/users?search=a%26b&limit=100",
      "/admin/users?search=a%26b&limit=100&page=100",
      "/admin/users?search=a%26b&limit=100&page=200",
    ]);
    const some = JSON.parse((await run("user list --json --limit 120")).stdout);
    assert.equal([some.data.length, some.has_more, some.next_page], [120, true, "120"]);
    const table = await run("user list --limit 1");
    assert.match(table.stdout, /^USERNAME .*\nu0 +Alice +- +- +- +user_0\n$/);
    assert.match(table.stderr, "more than 1");
  });
  await withApi(() => [200, { data: [], has_more: true, next_page: "again" }], async (_, run) => {
    assert.match((await run("user list")).stderr, "same page");
  });
});

test("operands are segments of the path; the rest is the query or the body, with the key", async () => {
  const bodies: string[] = [];
  await withApi(({ method }, response, message) => {
    let body = "";
    message.on("data", (chunk) => body += chunk);
    message.on("end", () => {
      bodies.push(body);
      response.writeHead(method === "DELETE" ? 204 : 200, { "content-type": "application/json" });
      response.end(method === "DELETE" ? undefined : JSON.stringify(USER));
    });
  }, async ({ seen }, run) => {
    assert.is((await run("user update a/../b?c --role author")).stdout, "Changed a/../b?c\n");
    assert.is((await run("user lock alice")).stdout, "alice is locked\n");
    assert.equal(JSON.parse((await run("user remove alice --json")).stdout), { id: "alice", removed: true });
    assert.is((await run("session remove alice s1")).code, 0);
    assert.is((await run("user show ..")).code, 1);
    assert.equal(seen.map(({ method, path }) => `${method} ${path}`), [
      "PATCH /admin/users/a%2F..%2Fb%3Fc",
      "POST /admin/users/alice/lock",
      "DELETE /admin/users/alice",
      "DELETE /admin/users/alice/sessions/s1",
    ]);
    assert.equal(bodies, ['{"role":"author"}', "{}", "", ""]);
    assert.ok(seen.every(({ headers }) => headers["x-api-key"] === "the-key"));
  });
});

test("an error of the server has its message, its type and the id of the request", async () => {
  await withApi(() => refusal(409, "conflict_error", "username: taken"), async (_, run) => {
    const { code, stdout, stderr } = await run("user add alice --generate");
    assert.equal([code, stdout], [1, ""]);
    assert.is(stderr, "trivet user: username: taken (conflict_error, request req_body)\n");
  });
  await withApi(() => refusal(403, "permission_error", "No"), async (_, run) => {
    assert.match((await run("user list")).stderr, /No \(permission_error.*\n.*scope.*admin/);
  });
  await withApi(() => refusal(404, "not_found_error", 'User not found: "x"'), async (_, run) => {
    assert.match((await run("user show x")).stderr, "trivet user list");
  });
  await withApi(() => [404, "Not found"], async (_, run) => {
    assert.match((await run("user list")).stderr, "no administration");
  });
});

test("what may have been done is not done again, and the message says so", async () => {
  const busy = refusal(503, "overloaded_error", "Busy", { "retry-after": "0" });
  for (
    const [command, requests] of [
      ["client add --id a --public --domain a.example", 1],
      ["user remove alice", 3],
      ["user list", 3],
    ] as const
  ) {
    await withApi(() => busy, async ({ seen }, run) => {
      const { code, stderr } = await run(command);
      assert.equal([code, seen.length], [1, requests], command);
      assert.is(/may have been made/.test(stderr), !command.endsWith("list"), stderr);
    });
  }
  await withApi((_, __, message) => {
    message.on("end", () => message.socket.destroy()).resume();
  }, async ({ seen }, run) => {
    assert.match((await run("user add alice --generate")).stderr, "may have been made");
    assert.is(seen.length, 1);
  });
  await withApi(
    () => refusal(429, "rate_limit_error", "Slow", { "retry-after": "0" }),
    async ({ seen }, run) => {
      const { stderr } = await run("user add alice --generate");
      assert.is(seen.length, 3);
      assert.not.match(stderr, "may have been made");
    },
  );
  let url = "";
  await withApi(() => {}, async (server) => void (url = server.url));
  const { stderr } = await runCommand(["user", "add", "alice", "--generate", "--url", url]);
  assert.match(stderr, "refused");
  assert.not.match(stderr, "may have been made");
});

test("a name that is no id is searched; a name that several have is not removed", async () => {
  const key = (id: string, name: string) => ({ id, name, workspace: "default", scopes: ["admin"] });
  const keys = [key("key_1", "ci"), key("key_2", "twice"), key("key_3", "twice"), key("key_4", "ci-old")];
  await withApi(({ method, path }) => {
    if (path.startsWith("/admin/keys?")) return [200, { data: keys, has_more: false, next_page: null }];
    const isKnown = keys.some(({ id }) => path === `/admin/keys/${id}`);
    return isKnown && method === "DELETE" ? [200, {}] : refusal(404, "not_found_error", "API key not found");
  }, async ({ seen }, run) => {
    assert.is((await run("key remove ci")).stdout, "Removed ci (key_1)\n");
    assert.is((await run("key remove key_3")).stdout, "Removed key_3\n");
    const several = await run("key remove twice");
    assert.is(several.code, 1);
    assert.match(several.stderr, "key_2, key_3");
    const missing = await run("key remove nothing");
    assert.match(missing.stderr, /not found.*\n?.*trivet key list/);
    assert.equal(
      seen.filter(({ method, path }) => method === "DELETE" && path.startsWith("/admin/keys/key_")).length,
      2,
    );
  });
});

test("texts of a server cannot control the terminal", async () => {
  const evil = { ...USER, name: "\u001b[31mred\u202e" };
  await withApi(() => [200, { data: [evil], has_more: false, next_page: null }], async (_, run) => {
    assert.match((await run("user list")).stdout, "\\u{1b}[31mred\\u{202e}");
  });
  const answer = {
    id: "1\u001b[2J",
    name: "e\u001b[31mvil\nsecret  x",
    scopes: [],
    secret: "s\u001b[m",
    username: "e\u001b[31mvil",
    redirect_uri: "https://e\u001b[31mvil",
    token_endpoint_auth_method: "e\u001b[31mvil",
    old_secret_until: null,
  };
  await withApi(() => [200, answer], async (_, run) => {
    for (
      const [command, lines] of [
        ["key add --name x", 2],
        ["user add x --generate", 2],
        ["client add --id x --domain x.example", 2],
        ["client rotate-secret x", 3],
        ["provider add google --client-id x", 2],
      ] as const
    ) {
      const { stdout, stderr } = await run(command);
      assert.match(stdout, "\\u{1b}", `${command}: ${stderr}`);
      assert.not.match(stdout, "\u001b");
      assert.is(stdout.split("\n").length, lines + 1, stdout);
    }
  });
});

test.run();
