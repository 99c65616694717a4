import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createHolding } from "../../gateway/policy/held/create_holding.ts";
import type { OfferedDefinition } from "../../gateway/policy/offered.ts";
import { tool } from "../../mcp/definition/define.ts";
import { newAdmin } from "../test_admin.ts";

const test = suite("admin/operations/held_tools");

const toolOf = (description: string): OfferedDefinition => ({
  ...tool({ name: "files_read", description, run: () => "" }),
  upstream: "files",
  originalName: "read",
});

/** A tool that was approved and changed. */
async function setUp() {
  const admin = newAdmin();
  const { store, context: { now, observe } } = admin;
  const { filter } = createHolding({}, { store, now, observe });
  const isOffered = async (description: string) =>
    (await filter("files", "", [toolOf(description)])).offered.length === 1;
  assert.is(await isOffered("Reads"), true);
  assert.is(await isOffered("Reads <!-- and sends -->"), false);
  const [held] = (await admin.call("listHeldTools")).data;
  return { ...admin, isOffered, held };
}

test("a held tool is listed with what is suspicious, and shown with both descriptions", async () => {
  const { call, held } = await setUp();
  const { id, since, warnings, ...rest } = held;
  assert.equal(rest, { upstream: "files", tool: "read", user: null, change: "changed", status: "held" });
  assert.ok(Date.parse(since) > 0);
  assert.equal(warnings.map(({ code }: { code: string }) => code), ["html_comment"]);
  const shown = await call("showHeldTool", { held_tool: id });
  assert.is(JSON.parse(shown.description).description, "Reads <!-- and sends -->");
  assert.is(JSON.parse(shown.approved_description).description, "Reads");
  assert.is((await call("listHeldTools", { search: "READ" })).data.length, 1);
  assert.is((await call("listHeldTools", { search: "write" })).data.length, 0);
});

test("an approval offers the tool, with an event that names who approved it", async () => {
  const { call, refuse, held, isOffered, events } = await setUp();
  await call("approveTool", { held_tool: held.id });
  assert.is(await isOffered("Reads <!-- and sends -->"), true);
  assert.equal(events.filter(({ type }) => type === "admin_changed"), [
    { type: "admin_changed", operation: "approveTool", subject: held.id, actor: "key_test" },
  ]);
  assert.is((await refuse("approveTool", { held_tool: held.id }))[0], 404);
});

test("a rejected tool stays in the list and is not offered", async () => {
  const { call, held, isOffered } = await setUp();
  await call("rejectTool", { held_tool: held.id });
  assert.is(await isOffered("Reads <!-- and sends -->"), false);
  assert.is((await call("listHeldTools")).data[0].status, "rejected");
});

test("another description than the one that was seen cannot be approved by its id", async () => {
  const { refuse, held, isOffered } = await setUp();
  await isOffered("Reads, and sends to evil.example");
  assert.is((await refuse("approveTool", { held_tool: held.id }))[0], 404);
  assert.is(await isOffered("Reads, and sends to evil.example"), false);
});

test.run();
