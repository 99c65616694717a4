import { suite } from "uvu";
import * as assert from "uvu/assert";
import { SKILL_MD } from "../test_service.ts";
import { containerKey } from "./container.ts";
import { type Any, BOB, CODE_EXECUTION, createRequest, json, newMessages, text } from "./test_messages.ts";

const test = suite("skills/messages/container");

const OCTOBER = {
  "anthropic-version": "2023-06-01",
  "anthropic-beta": "skills-2025-10-02,code-execution-2025-08-25, files-api-2025-04-14",
};

/** Posts a request and returns status, type and the member that the message names. */
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

test("the error names the invalid member of container", async () => {
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
    assert.equal(await refused(messages, createRequest([], { container })), [
      400,
      "invalid_request_error",
      member,
    ]);
  }
});

test("the error for a missing skill or version names it, also across workspaces", async () => {
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
    const { status, type, message } = await refusal(messages, createRequest(skills));
    assert.equal([status, type], [404, "not_found_error"]);
    assert.match(message, named);
  }
  const { id } = await messages.upload([["demo/SKILL.md", SKILL_MD]]);
  assert.equal((await refused(messages, createRequest([id]), { principal: BOB }))[0], 404);
});

test("one skill by name and id, and two skills with one name, are refused", async () => {
  const messages = newMessages();
  const forms = await messages.idOf("forms");
  const twice = await refusal(messages, createRequest(["forms", forms]));
  assert.equal([twice.status, twice.type], [400, "invalid_request_error"]);
  assert.match(twice.message, new RegExp(`^container\\.skills\\.1: .*"${forms}"`));
  const one = await messages.upload([["demo/SKILL.md", SKILL_MD]]);
  const two = await messages.upload([["demo/SKILL.md", SKILL_MD]]);
  const named = await refusal(messages, createRequest([one.id, "tables", two.id]));
  assert.equal([named.status, named.type], [400, "invalid_request_error"]);
  assert.match(named.message, new RegExp(`^container\\.skills\\.2: .*"demo".*"${one.id}"`));
});

test("skills require a code execution tool of any version", async () => {
  const messages = newMessages();
  for (
    const tools of [undefined, [], [{ type: "bash_20250124", name: "bash" }], [{ name: "code_execution" }]]
  ) {
    assert.equal(await refused(messages, createRequest(["forms"], { tools })), [
      400,
      "invalid_request_error",
      "tools",
    ]);
  }
  for (const version of ["20250522", "20250825", "20260120", "20260521"]) {
    await messages.send(
      createRequest(["forms"], { tools: [{ ...CODE_EXECUTION, type: `code_execution_${version}` }] }),
    );
  }
});

test("anthropic-version 2023-06-01 requires the markers", async () => {
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
    const { status, type, message } = await refusal(messages, createRequest(["forms"]), { headers });
    assert.equal([status, type], [400, "invalid_request_error"]);
    assert.ok(message.startsWith("anthropic-beta: "), message);
    const named = message.match(/[a-z-]+-2025-\d\d-\d\d/g) ?? [];
    assert.equal(named, missing.split(", "), message);
  }
  await messages.send(createRequest(["forms"]), OCTOBER);
  // Requests without skills do not need markers.
  await messages.send(createRequest([]), { "anthropic-version": "2023-06-01" });
  const always = newMessages(undefined, { markers: "always" });
  assert.equal(await refused(always, createRequest(["forms"])), [
    400,
    "invalid_request_error",
    "anthropic-beta",
  ]);
  const never = newMessages(undefined, { markers: "never" });
  await never.send(createRequest(["forms"]), {});
});

test("the response contains concrete versions in the request's dialect", async () => {
  const messages = newMessages();
  const { id, version } = await messages.upload([["demo/SKILL.md", SKILL_MD]]);
  const today = await messages.send(createRequest([id]));
  assert.equal(today.container.skills, [{ type: "custom", skill_id: id, version }]);
  const { container } = await messages.send(
    createRequest([{ type: "custom", skill_id: id, version: "latest" }]),
    OCTOBER,
  );
  assert.match(container.skills[0].version, /^\d{16}$/);
  for (const spelling of [version, container.skills[0].version, "1"]) {
    const answer = await messages.send(createRequest([{ type: "custom", skill_id: id, version: spelling }]));
    assert.is(answer.container.skills[0].version, version);
  }
});

test("a container keeps its skills and versions until a request lists others", async () => {
  const { send } = newMessages();
  const first = (await send(createRequest(["forms", "tables"]))).container;
  assert.is(first.skills.length, 2);
  for (const container of [first.id, { id: first.id }, { id: first.id, skills: null }]) {
    const again = (await send(createRequest([], { container }))).container;
    assert.equal([again.id, again.skills], [first.id, first.skills]);
  }
  const changed = (await send(
    createRequest([], { container: { id: first.id, skills: [{ type: "custom", skill_id: "tables" }] } }),
  ))
    .container;
  assert.equal([changed.id, changed.skills], [first.id, [first.skills[1]]]);
  assert.equal((await send(createRequest([], { container: first.id }))).container.skills, [first.skills[1]]);
  const empty = await send(createRequest([], { container: { id: first.id, skills: [] }, tools: undefined }));
  assert.equal([empty.container.id, empty.container.skills], [first.id, null]);
});

test("a conversation continues after a local skill was edited, with its current files", async () => {
  const messages = newMessages();
  const first = (await messages.send(createRequest(["forms"]))).container;
  messages.local.set("forms/references/fields.md", "one\ntwo\nthree\nfour\n");
  messages.advance(2000);
  for (let i = 0; i < 2; i++) {
    const again = (await messages.send(createRequest([], { container: first.id }))).container;
    assert.is(again.id, first.id);
    assert.is(again.skills[0].skill_id, first.skills[0].skill_id);
    assert.is.not(again.skills[0].version, first.skills[0].version);
  }
});

test("a container expires 30 days after its last use, and is private to its workspace", async () => {
  const messages = newMessages();
  const { id, expires_at } = (await messages.send(createRequest(["forms"]))).container;
  const DAY = 86_400_000;
  assert.ok(Math.abs(Date.parse(expires_at) - Date.now() - 30 * DAY) < 60_000);
  const notFound = [404, "not_found_error", "container"];
  assert.equal(await refused(messages, createRequest([], { container: id }), { principal: BOB }), notFound);
  messages.advance(29 * DAY);
  const later = (await messages.send(createRequest([], { container: id }))).container;
  assert.ok(Date.parse(later.expires_at) - Date.parse(expires_at) >= 29 * DAY);
  messages.advance(31 * DAY);
  assert.equal(await refused(messages, createRequest([], { container: id })), notFound);
});

test("a container id of the model endpoint is forwarded, unless the request lists skills", async () => {
  const container = "container_011CPR5CNjB747bTd36fQLFk";
  const messages = newMessages([json([text("Hi")], { container: { id: container } })]);
  const answer = await messages.send(createRequest([], { container }));
  assert.equal(answer.container, { id: container });
  assert.is(JSON.parse(messages.modelRequests[0]!.body).container, container);
  const both = createRequest(["forms"], {
    container: { id: container, skills: [{ type: "custom", skill_id: "forms" }] },
  });
  assert.is((await refused(messages, both))[0], 404);
  // An id in Trivet's format is never forwarded: an endpoint that ignores it would silently omit the skills.
  assert.is(
    (await refused(messages, createRequest([], { container: `container_01${"A".repeat(24)}` })))[0],
    404,
  );
  assert.is((await refused(newMessages(), createRequest([], { container })))[0], 404);
  assert.is(messages.modelRequests.length, 1);
});

test("a container without id and skills is ignored", async () => {
  const messages = newMessages();
  for (const container of [undefined, null, {}, { id: null, skills: [] }, { skills: null }]) {
    assert.is((await messages.send(createRequest([], { container }))).container, null);
  }
  assert.equal(await messages.store.list(["container"]), []);
});

test("a request that the model endpoint refuses creates no container", async () => {
  const messages = newMessages([new Response("", { status: 500 })]);
  assert.is((await refused(messages, createRequest(["forms"])))[0], 502);
  assert.equal(await messages.store.list(["container"]), []);
});

test("concurrent requests with one container succeed, and one of their skill lists remains", async () => {
  const { send, store } = newMessages();
  const { id } = (await send(createRequest(["forms"]))).container;
  const sets = Array.from({ length: 20 }, (_, at) => [at % 2 === 0 ? "forms" : "tables"]);
  const answers = await Promise.all(sets.map((skills) => {
    const { container } = createRequest(skills) as Any;
    return send(createRequest([], { container: { id, ...container } }));
  }));
  assert.equal(
    answers.map(({ container }) => [container.id, container.skills.length]),
    sets.map(() => [id, 1]),
  );
  const kept = (await store.get<Any>(containerKey("default", id)))!.value;
  assert.ok(answers.some(({ container }) => container.skills[0].skill_id === kept.skills[0].skill_id));
});

test.run();
