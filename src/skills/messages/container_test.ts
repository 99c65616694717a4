import { suite } from "uvu";
import * as assert from "uvu/assert";
import { SKILL_MD } from "../test_service.ts";
import { containerKey } from "./container.ts";
import { type Any, ask, BOB, CODE_EXECUTION, json, newMessages, text } from "./test_messages.ts";

const test = suite("skills/messages/container");

const OCTOBER = {
  "anthropic-version": "2023-06-01",
  "anthropic-beta": "skills-2025-10-02,code-execution-2025-08-25, files-api-2025-04-14",
};

/** A request that is to be refused: its status, type and the member that its message names. */
async function refused(
  messages: ReturnType<typeof newMessages>,
  body: unknown,
  options: Parameters<ReturnType<typeof newMessages>["post"]>[1] = {},
): Promise<[status: number, type: string, member: string]> {
  const { status, type, message } = await refusal(messages, body, options);
  return [status, type, message.slice(0, message.indexOf(":"))];
}

async function refusal(
  messages: ReturnType<typeof newMessages>,
  body: unknown,
  options: Parameters<ReturnType<typeof newMessages>["post"]>[1] = {},
): Promise<{ status: number; type: string; message: string }> {
  const response = await messages.post(body, options);
  const { error } = await response.json();
  return { status: response.status, ...error };
}

test("what is wrong with container is said by its member", async () => {
  const messages = newMessages();
  const skill = { type: "custom", skill_id: "forms" };
  for (
    const [container, member] of [
      [5, "container"],
      [[], "container"],
      ["", "container"],
      [{ id: 5 }, "container.id"],
      [{ skills: {} }, "container.skills"],
      [{ skills: [5] }, "container.skills.0"],
      [{ skills: [{ skill_id: "x" }] }, "container.skills.0.type"],
      [{ skills: [skill, { type: "custom" }] }, "container.skills.1.skill_id"],
      [
        { skills: [{ ...skill, version: 1759178010641129 }] },
        "container.skills.0.version",
      ],
      [{ skills: [skill, skill] }, "container.skills.1.skill_id"],
      [
        { skills: Array.from({ length: 9 }, (_, at) => ({ ...skill, skill_id: `s${at}` })) },
        "container.skills",
      ],
    ] as const
  ) {
    assert.equal(await refused(messages, ask([], { container })), [400, "invalid_request_error", member]);
  }
});

test("what there is not is said by its name", async () => {
  const messages = newMessages();
  const version = "1759178010641129";
  for (
    const [skills, named] of [
      [["tables", "none"], /^container\.skills\.1: .*"none"/],
      [
        [{ type: "custom", skill_id: "forms", version }],
        /^container\.skills\.0: .*"1759178010641129".*"forms"/,
      ],
      [[{ type: "anthropic", skill_id: "xlsx", version: "latest" }], /^container\.skills\.0: .*"xlsx"/],
    ] as const
  ) {
    const { status, type, message } = await refusal(messages, ask(skills));
    assert.equal([status, type], [404, "not_found_error"]);
    assert.match(message, named);
  }
  const { id } = await messages.upload([["demo/SKILL.md", SKILL_MD]]);
  assert.equal((await refused(messages, ask([id]), { principal: BOB }))[0], 404);
});

test("one skill by two spellings, and two skills with one name, are refused", async () => {
  const messages = newMessages();
  const forms = await messages.idOf("forms");
  const twice = await refusal(messages, ask(["forms", forms]));
  assert.equal([twice.status, twice.type], [400, "invalid_request_error"]);
  assert.match(twice.message, new RegExp(`^container\\.skills\\.1: .*"${forms}"`));
  const one = await messages.upload([["demo/SKILL.md", SKILL_MD]]);
  const two = await messages.upload([["demo/SKILL.md", SKILL_MD]]);
  const named = await refusal(messages, ask([one.id, "tables", two.id]));
  assert.equal([named.status, named.type], [400, "invalid_request_error"]);
  assert.match(named.message, new RegExp(`^container\\.skills\\.2: .*"demo".*"${one.id}"`));
});

test("skills need a code execution tool", async () => {
  const messages = newMessages();
  for (
    const tools of [undefined, [], [{ type: "bash_20250124", name: "bash" }], [{ name: "code_execution" }]]
  ) {
    assert.equal(await refused(messages, ask(["forms"], { tools })), [
      400,
      "invalid_request_error",
      "tools",
    ]);
  }
  for (const version of ["20250522", "20250825", "20260120", "20260521"]) {
    await messages.say(ask(["forms"], { tools: [{ ...CODE_EXECUTION, type: `code_execution_${version}` }] }));
  }
});

test("the markers are required of requests that speak the API of then", async () => {
  const messages = newMessages();
  for (
    const [headers, missing] of [
      [{}, "skills-2025-10-02, code-execution-2025-08-25, files-api-2025-04-14"],
      [
        { "anthropic-version": "2023-06-01", "anthropic-beta": " files-api-2025-04-14 ,x" },
        "skills-2025-10-02, code-execution-2025-08-25",
      ],
      [{ "anthropic-beta": "skills-2025-10-02,code-execution-2025-08-25" }, "files-api-2025-04-14"],
    ] as [Record<string, string>, string][]
  ) {
    const { status, type, message } = await refusal(messages, ask(["forms"]), { headers });
    assert.equal([status, type], [400, "invalid_request_error"]);
    assert.ok(message.startsWith("anthropic-beta: "), message);
    const named = message.match(/[a-z-]+-2025-\d\d-\d\d/g) ?? [];
    assert.equal(named, missing.split(", "), message);
  }
  await messages.say(ask(["forms"]), OCTOBER);
  // Requests without skills need none.
  await messages.say(ask([]), { "anthropic-version": "2023-06-01" });
  const always = newMessages(undefined, { markers: "always" });
  assert.equal(
    (await refused(always, ask(["forms"])))[2].slice(0, 60),
    "anthropic-beta",
  );
  const never = newMessages(undefined, { markers: "never" });
  await never.say(ask(["forms"]), {});
});

test("the version is concrete, and spelled as the request spells versions", async () => {
  const messages = newMessages();
  const { id, version } = await messages.upload([["demo/SKILL.md", SKILL_MD]]);
  const today = await messages.say(ask([id]));
  assert.equal(today.container.skills, [{ type: "custom", skill_id: id, version }]);
  const { container } = await messages.say(
    ask([{ type: "custom", skill_id: id, version: "latest" }]),
    OCTOBER,
  );
  assert.match(container.skills[0].version, /^\d{16}$/);
  for (const spelling of [version, container.skills[0].version, "1"]) {
    const answer = await messages.say(ask([{ type: "custom", skill_id: id, version: spelling }]));
    assert.is(answer.container.skills[0].version, version);
  }
});

test("a container keeps its skills at their versions, as text and as an object, until others are named", async () => {
  const { say } = newMessages();
  const first = (await say(ask(["forms", "tables"]))).container;
  assert.is(first.skills.length, 2);
  for (const container of [first.id, { id: first.id }, { id: first.id, skills: null }]) {
    const again = (await say(ask([], { container }))).container;
    assert.equal([again.id, again.skills], [first.id, first.skills]);
  }
  const changed =
    (await say(ask([], { container: { id: first.id, skills: [{ type: "custom", skill_id: "tables" }] } })))
      .container;
  assert.equal([changed.id, changed.skills], [first.id, [first.skills[1]]]);
  assert.equal((await say(ask([], { container: first.id }))).container.skills, [first.skills[1]]);
  const none = await say(ask([], { container: { id: first.id, skills: [] }, tools: undefined }));
  assert.equal([none.container.id, none.container.skills], [first.id, null]);
});

test("a container is found by its workspace for 30 days after it was used", async () => {
  const messages = newMessages();
  const { id, expires_at } = (await messages.say(ask(["forms"]))).container;
  const DAY = 86_400_000;
  assert.ok(Math.abs(Date.parse(expires_at) - Date.now() - 30 * DAY) < 60_000);
  const gone = [404, "not_found_error", "container"];
  assert.equal(await refused(messages, ask([], { container: id }), { principal: BOB }), gone);
  messages.advance(29 * DAY);
  const later = (await messages.say(ask([], { container: id }))).container;
  assert.ok(Date.parse(later.expires_at) - Date.parse(expires_at) >= 29 * DAY);
  messages.advance(31 * DAY);
  assert.equal(await refused(messages, ask([], { container: id })), gone);
});

test("containers of the model endpoint are its own, unless Trivet's skills are to be in them", async () => {
  const container = "container_011CPR5CNjB747bTd36fQLFk";
  const messages = newMessages([json([text("Hi")], { container: { id: container } })]);
  const answer = await messages.say(ask([], { container }));
  assert.equal(answer.container, { id: container });
  assert.is(JSON.parse(messages.asked[0]!.body).container, container);
  const both = ask(["forms"], {
    container: { id: container, skills: [{ type: "custom", skill_id: "forms" }] },
  });
  assert.is((await refused(messages, both))[0], 404);
  // One of Trivet's form is never passed on: an endpoint that ignores it would leave the skills out in silence.
  assert.is((await refused(messages, ask([], { container: `container_01${"A".repeat(24)}` })))[0], 404);
  assert.is((await refused(newMessages(), ask([], { container })))[0], 404);
  assert.is(messages.asked.length, 1);
});

test("container without id and skills is none", async () => {
  const messages = newMessages();
  for (const container of [undefined, null, {}, { id: null, skills: [] }, { skills: null }]) {
    assert.is((await messages.say(ask([], { container }))).container, null);
  }
  assert.equal(await messages.store.list(["container"]), []);
});

test("a request that the model refuses leaves no container", async () => {
  const messages = newMessages([new Response("", { status: 500 })]);
  assert.is((await refused(messages, ask(["forms"])))[0], 502);
  assert.equal(await messages.store.list(["container"]), []);
});

test("requests at one time with one container: each is answered, and one of their sets stays", async () => {
  const { say, store } = newMessages();
  const { id } = (await say(ask(["forms"]))).container;
  const sets = Array.from({ length: 20 }, (_, at) => [at % 2 === 0 ? "forms" : "tables"]);
  const answers = await Promise.all(sets.map((skills) => {
    const { container } = ask(skills) as Any;
    return say(ask([], { container: { id, ...container } }));
  }));
  assert.equal(
    answers.map(({ container }) => [container.id, container.skills.length]),
    sets.map(() => [id, 1]),
  );
  const kept = (await store.get<Any>(containerKey("default", id)))!.value;
  assert.ok(answers.some(({ container }) => container.skills[0].skill_id === kept.skills[0].skill_id));
});

test.run();
