import { suite } from "uvu";
import * as assert from "uvu/assert";
import { rebuildTurns } from "./history.ts";
import type { Block, Turn } from "./request.ts";
import { call, text } from "./test_messages.ts";
import { toClientId, toModelId, viewOfCall, writeViewInput } from "./view.ts";

const test = suite("skills/messages/history");

const NAMES = { load: "load_skill", read: "read_skill_file" };
const VIEW = "text_editor_code_execution";

const use = (id: string, path: string, view_range?: number[]): Block => ({
  type: "server_tool_use",
  id: `srvtoolu_${id}`,
  name: VIEW,
  input: { command: "view", path: `/skills/${path}`, ...(view_range && { view_range }) },
});
const result = (id: string, content: string): Block => ({
  type: `${VIEW}_tool_result`,
  tool_use_id: `srvtoolu_${id}`,
  content: { type: `${VIEW}_view_result`, file_type: "text", content },
});
const answer = (id: string, content: string): Block => ({
  type: "tool_result",
  tool_use_id: `toolu_${id}`,
  content,
});
const rebuild = (turns: Turn[]): Turn[] => rebuildTurns(turns, NAMES, []);
const assistant = (...content: Block[]): Turn => ({ role: "assistant", content });
const user = (...content: Block[]): Turn => ({ role: "user", content });

test("each round becomes a turn, and parallel calls stay in one turn", () => {
  const turns = rebuild([
    { role: "user", content: "Hi" },
    assistant(
      text("a"),
      use("1", "x/SKILL.md"),
      use("2", "x/b/c.md"),
      result("1", "one"),
      result("2", "two"),
      text(""),
      use("3", "x/SKILL.md", [3, -1]),
      result("3", "three"),
      text("end"),
    ),
    { role: "user", content: "Thanks" },
  ]);
  assert.equal(turns, [
    { role: "user", content: "Hi" },
    assistant(
      text("a"),
      call("toolu_1", "load_skill", { name: "x" }),
      call("toolu_2", "read_skill_file", { name: "x", path: "b/c.md" }),
    ),
    user(answer("1", "one"), answer("2", "two")),
    assistant(call("toolu_3", "read_skill_file", { name: "x", path: "SKILL.md", offset: 3 })),
    user(answer("3", "three")),
    assistant(text("end")),
    { role: "user", content: "Thanks" },
  ]);
});

test("results at the end of a turn begin the next user message", () => {
  const turn = assistant(use("1", "x/SKILL.md"), result("1", "one"));
  const called = assistant(call("toolu_1", "load_skill", { name: "x" }));
  assert.equal(rebuild([turn]), [called, user(answer("1", "one"))]);
  assert.equal(rebuild([turn, { role: "user", content: "Go" }]), [
    called,
    user(answer("1", "one"), text("Go")),
  ]);
  assert.equal(rebuild([turn, { role: "user", content: "" }]), [called, user(answer("1", "one"))]);
  assert.equal(rebuild([turn, user(text("Go"))]), [called, user(answer("1", "one"), text("Go"))]);
  assert.equal(rebuild([turn, assistant(text("on"))]), [
    called,
    user(answer("1", "one")),
    assistant(text("on")),
  ]);
});

test("turns without skills are returned unchanged", () => {
  const turns: Turn[] = [
    { role: "user", content: "Hi" },
    assistant(text(""), { type: "server_tool_use", id: "srvtoolu_9", name: "web_search", input: {} }),
    user(text("x")),
  ];
  const same = rebuild(turns);
  turns.forEach((turn, at) => assert.ok(same[at] === turn));
});

test("other commands and paths of the server tool are unchanged", () => {
  for (
    const input of [
      { command: "create", path: "/skills/x/SKILL.md" },
      { command: "view", path: "/tmp/x" },
      { command: "view", path: "/skills/x" },
      { command: "view" },
      "view",
      null,
    ]
  ) {
    const turn = assistant(
      { type: "server_tool_use", id: "srvtoolu_1", name: VIEW, input },
      result("1", "x"),
    );
    assert.equal(rebuild([turn]), [turn]);
  }
});

test("a call without a result is omitted, and so is a turn that becomes empty", () => {
  assert.equal(rebuild([assistant(text("a"), use("1", "x/SKILL.md"))]), [assistant(text("a"))]);
  assert.equal(rebuild([assistant(use("1", "x/SKILL.md")), { role: "user", content: "Hi" }]), [
    { role: "user", content: "Hi" },
  ]);
});

test("errors keep is_error, and blocks keep cache_control", () => {
  const failed = {
    type: `${VIEW}_tool_result`,
    tool_use_id: "srvtoolu_1",
    content: { type: `${VIEW}_tool_result_error`, error_code: "file_not_found", error_message: "None" },
    cache_control: { type: "ephemeral" },
  };
  const turns = rebuild([
    assistant({ ...use("1", "x/SKILL.md"), cache_control: { type: "ephemeral" } }, failed),
  ]);
  assert.equal(turns, [
    assistant({ ...call("toolu_1", "load_skill", { name: "x" }), cache_control: { type: "ephemeral" } }),
    user({ ...answer("1", "None"), is_error: true, cache_control: { type: "ephemeral" } }),
  ]);
  const bare = { ...failed, content: { type: `${VIEW}_tool_result_error`, error_code: "unavailable" } };
  assert.is(
    (rebuild([assistant(use("1", "x/SKILL.md"), bare)])[1]!.content as Block[])[0]!.content,
    "unavailable",
  );
});

test("a result of invalid shape becomes an empty result", () => {
  for (const content of [undefined, null, 5, "text", [], {}, { type: "x", content: 5 }]) {
    const block = { type: `${VIEW}_tool_result`, tool_use_id: "srvtoolu_1", content };
    assert.equal(rebuild([assistant(use("1", "x/SKILL.md"), block)])[1], user(answer("1", "")));
  }
});

test("toModelId() inverts toClientId()", () => {
  for (const id of ["toolu_01AbC", "call_12-3", "a", "_", "x__y", "toolu_a_b", "toolu_-", "ü:1"]) {
    const client = toClientId(id);
    assert.match(client, /^srvtoolu_[A-Za-z0-9_]+$/);
    assert.is(toModelId(client), id);
  }
});

test("a call becomes a view, and the view becomes the same call", () => {
  const roundTrip = (kind: "load" | "read", input: unknown): unknown => {
    const block = { ...use("1", ""), input: writeViewInput(viewOfCall(kind, input)) };
    const [turn] = rebuild([assistant(block, result("1", ""))]);
    const { name, input: made } = (turn!.content as Block[])[0]!;
    return [name, made];
  };
  for (
    const input of [
      { name: "x", path: "a.md" },
      { name: "x", path: "a.md", offset: 1 },
      { name: "x", path: "a.md", offset: 5 },
      { name: "x", path: "a.md", offset: 5, limit: 10 },
      { name: "x", path: "a b/ü.md" },
    ]
  ) {
    assert.equal(roundTrip("read", input), ["read_skill_file", input]);
  }
  assert.equal(roundTrip("read", { name: "x", path: "a.md", limit: 3 }), [
    "read_skill_file",
    { name: "x", path: "a.md", offset: 1, limit: 3 },
  ]);
  assert.equal(roundTrip("read", { name: "x", path: "SKILL.md" }), ["load_skill", { name: "x" }]);
  assert.equal(roundTrip("read", { name: "x", path: "/skills/x/a.md" }), ["read_skill_file", {
    name: "x",
    path: "a.md",
  }]);
  assert.equal(roundTrip("load", { name: "x" }), ["load_skill", { name: "x" }]);
  for (const input of [undefined, null, "x", {}, { name: 5 }, { name: "" }]) {
    assert.equal(roundTrip("load", input), ["load_skill", {}]);
  }
  for (
    const more of [{}, { path: "" }, { path: "a", offset: 0 }, { path: "a", limit: 1.5 }, {
      path: "a",
      offset: "1",
    }]
  ) {
    assert.equal(roundTrip("read", { name: "x", ...more }), ["load_skill", {}]);
  }
});

test.run();
