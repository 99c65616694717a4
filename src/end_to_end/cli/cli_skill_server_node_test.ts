import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import {
  type Answering,
  apiSkill,
  refusal,
  startApi,
  type TestApiServer,
} from "../skills_clients/test_api_server.ts";
import { temporaryFolder } from "../test_process.ts";
import { runCommand } from "./test_command.ts";
import { runSkill, runSkillJson, writeSkill } from "./test_skill_command.ts";

const test = suite("trivet skill --url: errors");
const folder = temporaryFolder();
test.after(() => folder.remove());

/** Runs a test against a server with these responses. */
async function withApi(
  answering: Answering,
  work: (server: TestApiServer) => Promise<void>,
  options?: { secure?: boolean },
): Promise<void> {
  const server = await startApi(answering, options);
  try {
    await work(server);
  } finally {
    await server.close();
  }
}

/** The standard error of `list`, which must fail. */
async function failureOf(url: string, more: readonly string[] = [], key?: string): Promise<string> {
  const { code, stdout, stderr } = await runSkill(["list", "--url", url, ...more], key);
  assert.is(code, 1);
  assert.is(stdout, "");
  assert.not.match(stderr, /\n\s+at /);
  return stderr;
}

test("a refused connection and an unknown host are reported with the host", async () => {
  const server = await startApi(() => {});
  await server.close();
  const host = new URL(server.url).host;
  assert.match(await failureOf(server.url), new RegExp(`^trivet skill: [^\n]*${host} refused[^\n]*--url\n$`));
  assert.match(await failureOf("https://no-such-host.invalid"), "no-such-host.invalid not found");
});

test("an untrusted certificate and https at a server without TLS are reported", async () => {
  await withApi(() => [200, {}], async ({ url, seen }) => {
    assert.match(
      await failureOf(url),
      /^trivet skill: .*certificate.*127\.0\.0\.1:\d+ .*\(.+NODE_EXTRA_CA_CERTS/,
    );
    assert.equal(seen, []);
  }, { secure: true });
  await withApi(() => [200, {}], async ({ url }) => {
    assert.match(await failureOf(url.replace("http:", "https:")), "TLS");
  });
});

test("a server that sends no response causes a timeout", async () => {
  await withApi(() => {}, async ({ url }) => {
    assert.match(await failureOf(url, ["--timeout", "1"]), /\b1 second.* --timeout/);
  });
});

test("401: the error names where to set an API key, and never contains the key", async () => {
  await withApi(
    () => refusal(401, "authentication_error", "The API key is not valid"),
    async ({ url, seen }) => {
      const withoutKey = await failureOf(url);
      assert.match(
        withoutKey,
        /^trivet skill: The API key is not valid \(authentication_error, request req_body\)\n.*TRIVET_API_KEY.*--key-file.*\n$/,
      );
      assert.not.match(withoutKey, "--scope admin");
      assert.is(seen[0]!.headers["x-api-key"], undefined);
      const stderr = await failureOf(url, [], " secret-key\n");
      assert.match(stderr, /\(authentication_error, request req_body\)\n.*API key/);
      assert.is.not(stderr.split("\n")[1], withoutKey.split("\n")[1]);
      assert.not.match(stderr, "secret-key");
      assert.is(seen[1]!.headers["x-api-key"], "secret-key");
      assert.is(seen[1]!.headers["anthropic-version"], "2023-06-01");
    },
  );
});

test("an invalid API key is neither sent nor printed; exit code 2", async () => {
  await withApi(() => [200, {}], async ({ url, seen }) => {
    for (const text of ["one-key two", "a\r\nx-evil: 1", "schlüssel"]) {
      const { code, stderr } = await runSkill(["list", "--url", url], text);
      assert.is(code, 2);
      assert.match(stderr, "TRIVET_API_KEY ");
      assert.not.match(stderr, /one-key|evil|schl/);
    }
    const file = join(folder.path, "empty-key");
    writeFileSync(file, "\n");
    // The file takes precedence over the environment, even when it is empty.
    assert.is((await runSkill(["list", "--url", url, "--key-file", file], "other")).code, 2);
    assert.equal(seen, []);
  });
});

test("a server on another machine needs TLS: nothing is sent without it", async () => {
  for (const key of [undefined, "k"]) {
    const { code, stderr } = await runSkill(["list", "--url", "http://no-such-host.invalid"], key);
    assert.is(code, 2);
    assert.match(stderr, "--url must be an https URL");
  }
  await withApi(() => [500, {}, { "x-should-retry": "false" }], async ({ url, seen }) => {
    for (const host of ["127.0.0.1", "localhost"]) await failureOf(url.replace("127.0.0.1", host), [], "k");
    assert.is(seen.length, 2);
  });
});

test("TRIVET_URL names the server, unless an option names a store; TRIVET_TOKEN is sent as a bearer token", async () => {
  await withApi(() => [200, { data: [] }], async ({ url, seen }) => {
    const variables = { TRIVET_URL: url, TRIVET_API_KEY: undefined, TRIVET_TOKEN: "token" };
    assert.is((await runCommand(["skill", "list"], variables)).code, 0);
    assert.equal([seen[0]!.headers.authorization, seen[0]!.headers["x-api-key"]], [
      "Bearer token",
      undefined,
    ]);
    const { code, stderr } = await runCommand(["skill", "list", "--data", folder.path], variables);
    assert.is(code, 1);
    assert.match(stderr, "There is no store");
    assert.is(seen.length, 1);
  });
});

test("--key-file sets the key, --url can have a path, and each id is one path segment", async () => {
  await withApi(() => refusal(404, "not_found_error", "Not found"), async ({ url, seen }) => {
    const file = join(folder.path, "key");
    writeFileSync(file, "from-file\n");
    await runSkill(["show", "../x?y#z%2f", "--url", `${url}/base/`, "--key-file", file], "from-env");
    assert.equal(seen.map(({ path }) => path), ["/base/v1/skills/..%2Fx%3Fy%23z%252f"]);
    assert.is(seen[0]!.headers["x-api-key"], "from-file");
    for (const id of ["..", ".", ""]) {
      assert.match((await runSkill(["remove", id, "--url", url])).stderr, `"${id}"`);
    }
    assert.is(seen.length, 1);
  });
});

test("403: the error names the scope that the key needs", async () => {
  await withApi(() => refusal(403, "permission_error", "No"), async ({ url }) => {
    assert.match(
      await failureOf(url),
      /No \(permission_error, request req_body\)\n.*skills:read/,
    );
  });
});

test("a redirect is not followed, so that the key reaches one server only", async () => {
  await withApi(() => [200, { data: [] }], async (other) => {
    await withApi(() => [307, "", { location: `${other.url}/v1/skills` }], async ({ url }) => {
      const stderr = await failureOf(url, [], "secret-key");
      assert.match(
        stderr,
        new RegExp(`${other.url}/v1/skills.*--url.*\\(status 307, request req_test\\)`),
      );
    });
    assert.equal(other.seen, []);
  });
});

test("a response that is not of the Skills API is an error", async () => {
  await withApi(() => [200, "<html>Welcome</html>"], async ({ url }) => {
    assert.match(await failureOf(url), /"data".*--url/);
  });
  await withApi(() => [502, "<html>Bad gateway</html>"], async ({ url }) => {
    assert.match(await failureOf(url), /\(status 502, request req_test\)/);
  });
});

test("control characters in text of a server are escaped", async () => {
  const { skill } = apiSkill("skill_\x1b[2J", "x");
  const evil = { ...skill, display_name: "a\x1b]0;title\x07b\u202e", source: { type: "custom\x9b1m" } };
  await withApi(() => [200, { data: [evil], next_page: null }], async ({ url }) => {
    const { code, stdout } = await runSkill(["list", "--url", url]);
    assert.is(code, 0);
    assert.match(stdout, "a\\u{1b}]0;title\\u{7}b\\u{202e}");
    // deno-lint-ignore no-control-regex
    assert.not.match(stdout, /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
  });
  await withApi(() => refusal(400, "\x1b[1m", "\x1b[2J"), async ({ url }) => {
    assert.match(await failureOf(url), "\\u{1b}[2J (\\u{1b}[1m, request req_body)");
  });
});

test("a request to an overloaded server is sent three times, or once when x-should-retry is false", async () => {
  const busy = refusal(529, "overloaded_error", "Too much", { "retry-after": "0" });
  await withApi(() => busy, async ({ url, seen }) => {
    assert.match(await failureOf(url), "Too much (overloaded_error, request req_body)");
    assert.is(seen.length, 3);
  });
  const never = refusal(503, "overloaded_error", "Closed", { "retry-after": "0", "x-should-retry": "false" });
  await withApi(() => never, async ({ url, seen }) => {
    await failureOf(url);
    assert.is(seen.length, 1);
  });
  const { skill, version } = apiSkill("skill_1", "demo");
  let requests = 0;
  await withApi(
    ({ method, path }) => {
      if (method === "POST") return ++requests < 3 ? busy : [200, skill];
      return [200, path.startsWith("/v1/skills?") ? { data: [] } : version];
    },
    async ({ url }) => {
      const source = writeSkill(join(folder.path, "retried"), "demo");
      // Each retry sends the whole body.
      const { id, name, latest_version_id } = await runSkillJson(["add", source, "--url", url]);
      assert.equal([id, name, latest_version_id, requests], ["skill_1", "demo", "skver_of_skill_1", 3]);
    },
  );
});

test("list reads all pages; a repeated cursor is an error", async () => {
  const page = ({ path }: { path: string }) =>
    Number(new URL(path, "http://h").searchParams.get("page") ?? "0");
  await withApi((request) => {
    const n = page(request);
    return [200, { data: [apiSkill(`skill_${n}`, "x").skill], next_page: n < 2 ? String(n + 1) : null }];
  }, async ({ url, seen }) => {
    const listed = await runSkillJson(["list", "--url", url]) as never as { id: string }[];
    assert.equal(listed.map(({ id }) => id), ["skill_0", "skill_1", "skill_2"]);
    assert.equal(seen.map(({ path }) => path), [
      "/v1/skills?limit=100",
      "/v1/skills?limit=100&page=1",
      "/v1/skills?limit=100&page=2",
    ]);
  });
  await withApi(() => [200, { data: [], next_page: "same" }], async ({ url, seen }) => {
    await failureOf(url);
    assert.is(seen.length, 2);
  });
});

test("a name is looked up in the versions, in the order of the list", async () => {
  const skills = ["a", "demo", "b", "demo"].map((name, i) => apiSkill(`skill_${i}`, name));
  await withApi(({ path }) => {
    if (path.startsWith("/v1/skills?")) {
      return [200, { data: skills.map(({ skill }) => skill), next_page: null }];
    }
    const [, id, rest] = /^\/v1\/skills\/(\w+)(.*)$/.exec(path)!;
    const found = skills.find(({ skill }) => skill.id === id);
    if (!found || id === "skill_0") return refusal(404, "not_found_error", `Skill not found: "${id}"`);
    return rest === "/versions?limit=100"
      ? [200, { data: [found.version], next_page: null }]
      : [200, found.version];
  }, async ({ url }) => {
    const versions = await runSkillJson(["versions", "demo", "--url", url]) as never as { id: string }[];
    assert.equal(versions.map(({ id }) => id), ["skver_of_skill_1"]);
    const missing = await runSkill(["versions", "c", "--url", url]);
    assert.is(missing.code, 1);
    assert.match(missing.stderr, 'Skill not found: "c" (not_found_error, request req_body)');
  });
});

test("a name selects the newest skill of that name, also when a local one is first in the list", async () => {
  for (
    const [updated, expected] of [
      ["2026-11-01T00:00:00Z", "skver_of_skill_1"],
      ["2026-09-01T00:00:00Z", "skver_of_skill_local_0"],
    ] as const
  ) {
    const local = apiSkill("skill_local_0", "demo");
    const custom = apiSkill("skill_1", "demo");
    const data = [
      { ...local.skill, source: { type: "local" }, updated_at: "2026-10-01T00:00:00Z" },
      { ...custom.skill, updated_at: updated },
    ];
    await withApi(({ path }) => {
      if (path.startsWith("/v1/skills?")) return [200, { data, next_page: null }];
      const [, id, rest] = /^\/v1\/skills\/(\w+)(.*)$/.exec(path)!;
      const found = [local, custom].find(({ skill }) => skill.id === id);
      if (!found) return refusal(404, "not_found_error", "Skill not found");
      return [
        200,
        rest === "/versions?limit=100" ? { data: [found.version], next_page: null } : found.version,
      ];
    }, async ({ url }) => {
      const versions = await runSkillJson(["versions", "demo", "--url", url]) as never as { id: string }[];
      assert.equal(versions.map(({ id }) => id), [expected]);
    });
  }
});

test("validate fails at a server without validation", async () => {
  await withApi(() => refusal(404, "not_found_error", "Not found"), async ({ url }) => {
    const { code, stderr } = await runSkill([
      "validate",
      writeSkill(join(folder.path, "dry"), "demo"),
      "--url",
      url,
    ]);
    assert.is(code, 1);
    assert.match(stderr, /validate.*--url/);
  });
});

test.run();
