import { createReadStream } from "node:fs";
import { fileURLToPath } from "node:url";
import Anthropic, { toFile } from "@anthropic-ai/sdk";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createApiKey } from "../../skills/api_key.ts";
import { refusal, skillMarkdown, type SkillsServer, startSkills } from "../skills/test_skills_server.ts";

const test = suite("@anthropic-ai/sdk: errors");
const LIMIT = 64 * 1024;
let server: SkillsServer;
let client: Anthropic;

test.before(async () => {
  server = await startSkills({ uploadLimit: LIMIT });
  client = clientOf(server.key);
});
test.after(() => server.close());

type Refusal = InstanceType<typeof Anthropic.APIError>;
const encoder = new TextEncoder();
const clientOf = (apiKey: string): Anthropic => new Anthropic({ apiKey, baseURL: server.url, maxRetries: 2 });
const create = async (by: Anthropic, files: Record<string, string | Uint8Array>): Promise<{ id: string }> =>
  by.skills.create({
    files: await Promise.all(
      Object.entries(files).map(([path, content]) =>
        toFile(typeof content === "string" ? encoder.encode(content) : content, path)
      ),
    ),
  });

/** Asserts the members of an error response and the id of the request. */
function checkEnvelope(error: Refusal, status: number, type: string, message: RegExp): void {
  assert.is(error.status, status);
  assert.is(error.type, type);
  assert.match(error.apiMessage!, message);
  assert.match(error.requestID!, /^req_/);
  assert.is(error.requestID, error.headers!.get("request-id"));
  const { details, ...rest } = (error.error as { error: Record<string, unknown> }).error;
  assert.equal({ ...error.error, error: rest }, {
    type: "error",
    error: { type, message: error.apiMessage },
    request_id: error.requestID,
  });
  assert.is(details === undefined, error.details === null || error.details === undefined);
}

/** The error of a call, and the number of its requests. */
async function attempts(call: () => PromiseLike<unknown>): Promise<{ error: Refusal; count: number }> {
  const before = server.seen.length;
  const error = await refusal(call()) as Refusal;
  return { error, count: server.seen.length - before };
}

test("400: an invalid package is reported with file, line, rule and hint, and not retried", async () => {
  const { error, count } = await attempts(() =>
    create(client, { "Bad_Name/SKILL.md": `---\nname: Bad_Name\ndescription: ${"d".repeat(1025)}\n---\n` })
  );
  assert.instance(error, Anthropic.BadRequestError);
  checkEnvelope(error, 400, "invalid_request_error", /name.*description/s);
  assert.is(count, 1);
  assert.is(error.errorCode, "name-form");
  const { error_code, problems } = error.details as unknown as {
    error_code: string;
    problems: { code: string; file: string; line: number; message: string; hint: string }[];
  };
  assert.is(error_code, "name-form");
  assert.equal(problems.map(({ code, file, line, hint }) => [code, file, line, /bad-name|\b1$/.test(hint)]), [
    ["name-form", "SKILL.md", 2, true],
    ["description-length", "SKILL.md", 3, true],
  ]);
  assert.match(problems[0]!.message, /'name'.*SKILL\.md/);
  assert.match(problems[1]!.message, /'description'.*SKILL\.md/);
});

test("400: packages without SKILL.md, front matter or files, with invalid UTF-8 or invalid paths", async () => {
  const packages: [Record<string, string | Uint8Array>, RegExp][] = [
    [{ "x/README.md": "x" }, /SKILL\.md/],
    [{ "x/SKILL.md": "text" }, /front ?matter/i],
    [{ "x/SKILL.md": "---\nname: x\n---\n" }, /description/],
    [{ "x/SKILL.md": Uint8Array.of(45, 45, 45, 10, 0xe9, 10) }, /UTF-8/],
    [{ "x/SKILL.md": skillMarkdown("x"), "x/../y": "" }, /\.\./],
    [{ "x/SKILL.md": skillMarkdown("x"), "x/A": "", "x/a": "" }, /x\/[Aa]|\b[Aa]\b/],
    [{}, /files|multipart|SKILL\.md/],
  ];
  for (const [files, message] of packages) {
    const { error, count } = await attempts(() => create(client, files));
    assert.instance(error, Anthropic.BadRequestError);
    checkEnvelope(error, 400, "invalid_request_error", message);
    assert.is(count, 1);
  }
  assert.equal((await client.skills.list()).data, [], "refused packages leave no skill");
});

test("400: a file stream with an absolute path is refused; toFile() sets a relative path", async () => {
  const path = fileURLToPath(new URL("../../../fixtures/skills/meeting-notes/SKILL.md", import.meta.url));
  const { error } = await attempts(() => client.skills.create({ files: [createReadStream(path)] }));
  assert.instance(error, Anthropic.BadRequestError);
  checkEnvelope(error, 400, "invalid_request_error", /relative/);
  const file = await toFile(createReadStream(path), "meeting-notes/SKILL.md");
  const created = await client.skills.create({ files: [file] });
  assert.is(created.display_name, "meeting-notes");
  await client.skills.delete(created.id);
});

test("400: a display_name that is empty, too long or has several lines", async () => {
  const files = [await toFile(encoder.encode(skillMarkdown("x")), "x/SKILL.md")];
  for (const display_name of ["", " ", "l".repeat(256), "a\nb", "a\u2028b"]) {
    const { error } = await attempts(() => client.skills.create({ files, display_name }));
    assert.instance(error, Anthropic.BadRequestError, JSON.stringify(display_name));
    checkEnvelope(error, 400, "invalid_request_error", /display_name/);
  }
  const longest = await client.skills.create({ files, display_name: "é".repeat(255) });
  assert.is(longest.display_name, "é".repeat(255));
  await client.skills.delete(longest.id);
});

test("400: an invalid page or limit", async () => {
  for (const limit of [0, -1, 1001, 2.5, "abc" as unknown as number]) {
    const { error } = await attempts(() => client.skills.list({ limit }));
    assert.instance(error, Anthropic.BadRequestError, `limit ${limit}`);
    checkEnvelope(error, 400, "invalid_request_error", /\blimit\b.*1000/);
  }
  for (const page of ["x", "page_", "page_AAAA", "page_" + "A".repeat(5000)]) {
    const { error } = await attempts(() => client.skills.list({ page }));
    assert.instance(error, Anthropic.BadRequestError, `page ${page}`);
    checkEnvelope(error, 400, "invalid_request_error", /\bpage\b.*next_page/);
  }
});

test("400: an unknown anthropic-version; both known versions are accepted", async () => {
  for (const version of ["2023-06-01", "2026-10-21"]) {
    const { response } = await client.skills.list({}, { headers: { "anthropic-version": version } })
      .withResponse();
    assert.is(response.status, 200, version);
    assert.is(server.seen.at(-1)!.headers.get("anthropic-version"), version);
  }
  const { error } = await attempts(() =>
    client.skills.list({}, { headers: { "anthropic-version": "2024-01-01" } })
  );
  assert.instance(error, Anthropic.BadRequestError);
  checkEnvelope(error, 400, "invalid_request_error", /anthropic-version.*2023-06-01.*2026-10-21/);
});

test("401: an unknown key; 403: a key with only skills:read", async () => {
  const unauthorized = await attempts(() => clientOf("sk-unknown").skills.list());
  assert.instance(unauthorized.error, Anthropic.AuthenticationError);
  checkEnvelope(unauthorized.error, 401, "authentication_error", /API key/);
  assert.is(unauthorized.count, 1);

  const { secret } = await createApiKey(server.store, { name: "reader", scopes: ["skills:read"] });
  const reader = clientOf(secret);
  assert.equal((await reader.skills.list()).data, []);
  for (
    const call of [
      () => create(reader, { "x/SKILL.md": skillMarkdown("x") }),
      () => reader.skills.delete("skill_01"),
      () => reader.skills.versions.delete("skver_01", { skill_id: "skill_01" }),
    ]
  ) {
    const { error } = await attempts(call);
    assert.instance(error, Anthropic.PermissionDeniedError);
    checkEnvelope(error, 403, "permission_error", /skills:write/);
  }
});

test("404: a missing skill and a skill of another workspace, which stays unchanged", async () => {
  const { id } = await create(client, { "x/SKILL.md": skillMarkdown("x") });
  const { secret } = await createApiKey(server.store, { name: "other", workspace: "other" });
  const other = clientOf(secret);
  assert.equal((await other.skills.list()).data, []);
  const calls = (by: Anthropic, id: string): (() => PromiseLike<unknown>)[] => [
    () => by.skills.retrieve(id),
    () => by.skills.delete(id),
    () => by.skills.versions.list(id),
    () => by.skills.versions.retrieve("latest", { skill_id: id }),
    () => by.beta.skills.versions.download("latest", { skill_id: id }),
  ];
  for (
    const call of [...calls(other, id), ...calls(client, "skill_01unknown"), ...calls(client, "é/%2e%2e?#")]
  ) {
    const { error } = await attempts(call);
    assert.instance(error, Anthropic.NotFoundError);
    checkEnvelope(error, 404, "not_found_error", /./);
  }
  assert.is((await client.skills.retrieve(id)).id, id);
  await client.skills.delete(id);
});

test("413: an upload above the limit is sent once and leaves no skill", async () => {
  const skill = { "x/SKILL.md": skillMarkdown("x") };
  const { error, count } = await attempts(() =>
    create(client, { ...skill, "x/big.bin": new Uint8Array(LIMIT + 1).fill(7) })
  );
  assert.instance(error, Anthropic.ContentTooLargeError);
  checkEnvelope(error, 413, "request_too_large", new RegExp(String(LIMIT)));
  assert.is(count, 1);
  assert.equal((await client.skills.list()).data, []);
});

test("a bearer token can be an API key", async () => {
  const bearer = new Anthropic({ authToken: server.key, apiKey: null, baseURL: server.url, maxRetries: 0 });
  assert.equal((await bearer.skills.list()).data, []);
  assert.is(server.seen.at(-1)!.headers.get("x-api-key"), null);
});

test("CORS allows the header fields of the SDK and exposes the request id", async () => {
  const inBrowser = new Anthropic({
    apiKey: server.key,
    baseURL: server.url,
    dangerouslyAllowBrowser: true,
    defaultHeaders: { origin: "https://app.example", "anthropic-dangerous-direct-browser-access": "true" },
  });
  const { response } = await inBrowser.skills.list().withResponse();
  const exposed = response.headers.get("access-control-expose-headers")!.toLowerCase().split(/, */);
  assert.ok(exposed.includes("request-id"));
  assert.is(response.headers.get("access-control-allow-origin"), "https://app.example");
  const sent = [...server.seen.at(-1)!.headers.keys()].filter((name) =>
    /^(x-|anthropic-|content-type)/.test(name)
  );
  assert.ok(sent.includes("x-stainless-lang") && sent.includes("anthropic-version"));
  const preflight = await fetch(`${server.url}/v1/skills`, {
    method: "OPTIONS",
    headers: {
      origin: "https://app.example",
      "access-control-request-method": "POST",
      "access-control-request-headers": sent.join(","),
    },
  });
  assert.ok(preflight.ok);
  const allowed = preflight.headers.get("access-control-allow-headers")!.toLowerCase().split(/, */);
  if (!allowed.includes("*")) assert.equal(sent.filter((name) => !allowed.includes(name)), []);
});

test.run();
