import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { AuthorizationServerOptions } from "../authorization_server.ts";
import { beforeNextCommit } from "../../store/test_meanwhile.ts";
import { newServer } from "../test_server.ts";
import { addUser } from "../users/user.ts";
import { endUserSessions } from "../users/user_sessions.ts";
import { type Approval, approvalKey, type ApprovalMemory, approvalMemoryKey } from "./approval.ts";
import { TEXTS as EN } from "./texts_en.ts";

const test = suite("oauth/approvals");
const ID = "a".repeat(43);
const PATH = `/account/approvals/${ID}`;

async function setUp(more: Partial<Approval> = {}, options: Partial<AuthorizationServerOptions> = {}) {
  const server = await newServer(options);
  const [alice] = await server.store.list<{ id: string }>(["user"]);
  const approval: Approval = {
    user: alice!.value.id,
    client: "app",
    tool: "bank_pay",
    upstream: "bank",
    arguments: [{ name: "to", value: '"<b>bob</b>"' }, { name: "amount", value: "5" }],
    more: 0,
    reason: "Money",
    status: "pending",
    ...more,
  };
  await server.store.commit({ set: [{ key: approvalKey(ID), value: approval }] });
  const cookie = await server.signIn();
  const send = (form?: Record<string, string>, headers: Record<string, string> = {}) =>
    server.send(PATH, { headers: { cookie, accept: "text/html", ...headers }, ...(form && { form }) });
  const statusOf = async () => (await server.store.get<Approval>(approvalKey(ID)))?.value.status;
  return { ...server, alice: alice!.value.id, cookie, sendForm: send, statusOf };
}

test("the page shows application, tool, server, reason and arguments, escaped, and runs no script", async () => {
  const { sendForm } = await setUp();
  const response = await sendForm();
  assert.is(response.status, 200);
  assert.match(response.headers.get("content-security-policy")!, "frame-ancestors 'none'");
  const page = await response.text();
  for (const text of ["The App", "bank_pay", "bank", "Money", "&lt;b&gt;bob&lt;/b&gt;"]) {
    assert.ok(page.includes(text), text);
  }
  assert.not.match(page, "<script");
  assert.not.match(page, 'name="remember"');
});

test("it speaks German", async () => {
  const { sendForm } = await setUp({ more: 3 });
  const response = await sendForm(undefined, { "accept-language": "de" });
  assert.is(response.headers.get("content-language"), "de");
  assert.match(await response.text(), "Erlauben");
});

for (
  const [decision, status, event] of [["approve", "approved", "approval_given"], [
    "deny",
    "refused",
    "approval_refused",
  ]] as const
) {
  test(`${decision} is kept once, and the first decision stands`, async () => {
    const { sendForm, statusOf, events, alice } = await setUp();
    assert.is((await sendForm({ decision })).status, 200);
    assert.is(await statusOf(), status);
    const { type, user } = events.at(-1) as { type: string; user: string };
    assert.equal([type, user], [event, alice]);
    // The button was clicked twice, or the browser went back: the page shows what was decided.
    const { length } = events;
    const title = decision === "approve" ? EN.approvalGivenTitle : EN.approvalRefusedTitle;
    for (const again of ["approve", "deny"]) {
      const response = await sendForm({ decision: again });
      assert.is(response.status, 200);
      assert.match(await response.text(), `<h1>${title}`);
    }
    assert.equal([await statusOf(), events.length], [status, length]);
    assert.not.match(await (await sendForm()).text(), "<form");
  });
}

test("of two decisions at the same time one stands", async () => {
  const { sendForm, statusOf, events } = await setUp();
  await Promise.all([sendForm({ decision: "approve" }), sendForm({ decision: "deny" })]);
  const decided = events.filter(({ type }) => type.startsWith("approval_"));
  assert.equal(decided.map(({ type }) => type), [
    await statusOf() === "approved" ? "approval_given" : "approval_refused",
  ]);
});

test("a client whose metadata document cannot be fetched is named by its URL, and keeps no page from opening", async () => {
  const client = "https://gone.example/client.json";
  const memory = { digest: "m", seconds: 3600, hasArguments: true };
  const { send, sendForm, cookie, statusOf } = await setUp({ client, memory });
  const page = await sendForm();
  assert.is(page.status, 200);
  assert.match(await page.text(), "gone.example");
  assert.is((await sendForm({ decision: "approve", remember: "on" })).status, 200);
  assert.is(await statusOf(), "approved");
  const list = await send("/account/approvals", { headers: { cookie, accept: "text/html" } });
  assert.is(list.status, 200);
  assert.match(await list.text(), "gone.example");
});

test("the user can have the approval remembered, only where the operator allows it, and only with an approval", async () => {
  const memory = { digest: "m", seconds: 3600, hasArguments: true };
  const { sendForm, store, alice } = await setUp({ memory });
  assert.match(await (await sendForm()).text(), 'name="remember"');
  await sendForm({ decision: "approve", remember: "on" });
  const { value, expires } = (await store.get<ApprovalMemory>(approvalMemoryKey(alice, "m")))!;
  assert.equal([value.tool, value.upstream, value.client, value.arguments!.length], [
    "bank_pay",
    "bank",
    "app",
    2,
  ]);
  assert.is(expires, value.since + 3600_000);
  const denied = await setUp({ memory });
  await denied.sendForm({ decision: "deny", remember: "on" });
  assert.is(await denied.store.get(approvalMemoryKey(denied.alice, "m")), undefined);
  const never = await setUp();
  await never.sendForm({ decision: "approve", remember: "on" });
  assert.equal(await never.store.list(["approval_memory"]), []);
});

test("a user sees the calls that are allowed without a question, and takes one back", async () => {
  const { send, sendForm, cookie, alice, store } = await setUp({
    memory: { digest: "m", seconds: 3600, hasArguments: true },
  });
  await sendForm({ decision: "approve", remember: "on" });
  const any: ApprovalMemory = { tool: "files_read", since: 1 };
  await store.commit({ set: [{ key: approvalMemoryKey(alice, "any"), value: any }] });
  await store.commit({
    set: [{ key: approvalMemoryKey("mallory", "other"), value: { ...any, tool: "not_mine" } }],
  });
  const list = (form?: Record<string, string>, headers = {}) =>
    send("/account/approvals", {
      headers: { cookie, accept: "text/html", ...headers },
      ...(form && { form }),
    });
  const page = await (await list()).text();
  for (const text of ["bank_pay", "The App", "&lt;b&gt;bob", "files_read", "any arguments"]) {
    assert.ok(page.includes(text), text);
  }
  assert.not.match(page, "not_mine");
  assert.is((await list({ call: "m" }, { "sec-fetch-site": "cross-site" })).status, 403);
  for (const call of ["other", "none", ""]) assert.is((await list({ call })).status, 404);
  assert.is((await list({ call: "m" })).status, 303);
  assert.is(await store.get(approvalMemoryKey(alice, "m")), undefined);
  assert.ok(await store.get(approvalMemoryKey("mallory", "other")));
  assert.not.match(await (await list()).text(), "bank_pay");
});

test("the overview of the account leads there, where there is a gateway", async () => {
  for (const connections of [undefined, () => Promise.resolve(new Response())]) {
    const { send, cookie } = await setUp({}, connections && { connections });
    const page = await (await send("/account", { headers: { cookie, accept: "text/html" } })).text();
    assert.is(page.includes('href="/account/approvals"'), connections !== undefined);
  }
});

test("another user gets the same 404 as for a call that does not exist, and cannot decide", async () => {
  const { send, store, statusOf } = await setUp();
  await addUser(store, { username: "mallory", password: "mallory" }, 1000);
  const login = await send("/login", { form: { username: "mallory", password: "mallory" } });
  const cookie = login.headers.getSetCookie().map((field) => field.split(";")[0]).join("; ");
  const pages = await Promise.all([PATH, `/account/approvals/${"b".repeat(43)}`, "/account/approvals/x"].map(
    async (path) => {
      const response = await send(path, { headers: { cookie, accept: "text/html" } });
      return [response.status, (await response.text()).replaceAll(path, "")];
    },
  ));
  assert.is(pages[0]![0], 404);
  assert.equal(pages[0], pages[1]);
  assert.equal(pages[0], pages[2]);
  assert.is((await send(PATH, { form: { decision: "approve" }, headers: { cookie } })).status, 404);
  assert.is(await statusOf(), "pending");
});

test("without a session the user signs in first, and comes back to the page", async () => {
  const { send, statusOf } = await setUp();
  for (const form of [undefined, { decision: "approve" }]) {
    const response = await send(PATH, form ? { form } : {});
    assert.equal([response.status, response.headers.get("location")], [
      302,
      `/login?redirect=${encodeURIComponent(PATH)}`,
    ]);
  }
  assert.is(await statusOf(), "pending");
});

test("a form of another site, an invalid decision and a repeated field change nothing", async () => {
  const { sendForm, send, cookie, statusOf } = await setUp();
  assert.is((await sendForm({ decision: "approve" }, { "sec-fetch-site": "cross-site" })).status, 403);
  assert.is((await sendForm({ decision: "maybe" })).status, 400);
  assert.is((await sendForm({})).status, 400);
  const repeated = await send(PATH, { form: "decision=approve&decision=deny", headers: { cookie } });
  assert.is(repeated.status, 400);
  assert.is(await statusOf(), "pending");
});

test("an approval ends ten minutes after the decision", async () => {
  const { sendForm, advance, statusOf } = await setUp();
  await sendForm({ decision: "approve" });
  advance(599);
  assert.is(await statusOf(), "approved");
  advance(2);
  assert.is(await statusOf(), undefined);
});

test("it also works where the account pages are off", async () => {
  const { sendForm, statusOf } = await setUp({}, {
    account: false,
    factors: { passkeys: undefined, totp: false, acr: "mfa", hasAccount: false },
  });
  assert.is((await sendForm({ decision: "approve" })).status, 200);
  assert.is(await statusOf(), "approved");
});

test("attack: a session that ends before the commit of its form decides and ends nothing", async () => {
  const { store, alice, sendForm, send, cookie, statusOf } = await setUp();
  const end = () => beforeNextCommit(store, () => endUserSessions(store, alice));
  const decided = end();
  assert.is((await sendForm({ decision: "approve" })).status, 403);
  assert.ok(decided.isDone);
  assert.is(await statusOf(), "pending");
  assert.is((await send("/account/approvals", { headers: { cookie } })).status, 302);
});

test("attack: a session that ends before the commit of its form takes no allowed call back", async () => {
  const { store, alice, send, cookie } = await setUp();
  const value: ApprovalMemory = { tool: "bank_pay", since: 1 };
  await store.commit({ set: [{ key: approvalMemoryKey(alice, "x"), value }] });
  const ended = beforeNextCommit(store, () => endUserSessions(store, alice));
  const options = { form: { call: "x" }, headers: { cookie, accept: "text/html" } };
  assert.is((await send("/account/approvals", options)).status, 403);
  assert.ok(ended.isDone && await store.get(approvalMemoryKey(alice, "x")));
});

test.run();
