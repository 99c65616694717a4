import Anthropic, { toFile } from "@anthropic-ai/sdk";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../mod.ts";
import { type Store, StoreUnavailableError } from "../../store/store.ts";
import { refusal, skillMarkdown, type SkillsServer, startSkills } from "../skills/test_skills_server.ts";

const test = suite("@anthropic-ai/sdk: retries");
/** Responses of the proxy in front of the server, in order. */
let answers: Response[] = [];
/** The number of calls of the store that fail. */
let failures = { commits: 0, reads: 0 };
let server: SkillsServer;
let client: Anthropic;

/** A store that is unavailable for the number of calls in `failures`. */
function failingStore(): Store {
  const store = memoryStore();
  const failWhileUnavailable = (kind: "commits" | "reads"): void => {
    if (failures[kind]-- > 0) throw new StoreUnavailableError("the engine restarts", { retryAfter: 1 });
  };
  return {
    ...store,
    guarantees: store.guarantees,
    get: async (key, options) => (failWhileUnavailable("reads"), await store.get(key, options)),
    list: async (prefix, options) => (failWhileUnavailable("reads"), await store.list(prefix, options)),
    commit: async (commit) => (failWhileUnavailable("commits"), await store.commit(commit)),
    watch: store.watch.bind(store),
    sweep: store.sweep.bind(store),
    close: store.close.bind(store),
  };
}

test.before(async () => {
  server = await startSkills({ store: failingStore(), before: () => answers.shift() });
  client = new Anthropic({ apiKey: server.key, baseURL: server.url });
});
test.before.each(() => {
  answers = [];
  failures = { commits: 0, reads: 0 };
});
test.after(() => server.close());

const create = async (): Promise<Anthropic.Skill> =>
  await client.skills.create({
    files: [await toFile(new TextEncoder().encode(skillMarkdown("notes")), "notes/SKILL.md")],
  });
const retryCounts = (): (string | null)[] =>
  server.seen.splice(0).map(({ headers }) => headers.get("x-stainless-retry-count"));

/** The response of a busy proxy or service. */
function busy(status: number, fields: Record<string, string>): Response {
  const body = { type: "error", error: { type: "overloaded_error", message: "busy" }, request_id: "req_x" };
  return Response.json(body, { status, headers: fields });
}

test("requests are retried after 429, 529 and 500, and an upload is stored once", async () => {
  retryCounts();
  answers = [busy(429, { "retry-after-ms": "5" }), busy(529, { "retry-after-ms": "5" })];
  const skill = await create();
  assert.equal(retryCounts(), ["0", "1", "2"]);
  answers = [busy(500, { "retry-after-ms": "5" })];
  assert.equal((await client.skills.list()).data, [{ ...skill }]);
  assert.equal(retryCounts(), ["0", "1"]);
  await client.skills.delete(skill.id);
});

test("an unavailable store is a 503 with Retry-After, and the SDK retries", async () => {
  retryCounts();
  failures.commits = 1;
  const skill = await create();
  assert.equal(retryCounts(), ["0", "1"]);
  assert.equal((await client.skills.list()).data, [{ ...skill }], "stored once");

  failures.reads = 1;
  const error = await refusal(client.skills.retrieve(skill.id, {}, { maxRetries: 0 })) as InstanceType<
    typeof Anthropic.APIError
  >;
  assert.instance(error, Anthropic.InternalServerError);
  assert.is(error.status, 503);
  assert.is(error.type, "overloaded_error");
  assert.is(error.headers!.get("retry-after"), "1");
  assert.match(error.requestID!, /^req_/);
  assert.not.match(error.message, /restarts/, "without the error of the engine");
  assert.ok(server.events.some(({ type }) => type === "store_unavailable"));
  assert.equal({ ...await client.skills.retrieve(skill.id) }, { ...skill });
});

test("a permanent error is not retried", async () => {
  retryCounts();
  await refusal(client.skills.retrieve("skill_01unknown"));
  await refusal(client.skills.create({ files: [new File(["x"], "x/SKILL.md")] }));
  await refusal(client.skills.list({ limit: 0 }));
  assert.equal(retryCounts(), ["0", "0", "0"]);
});

test.run();
