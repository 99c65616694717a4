import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { countingStore } from "../../store/test_counting_store.ts";
import { ENDPOINT_BUDGETS } from "../request_budget.ts";
import { inviteUser } from "../sign_up/invitation.ts";
import { linkOf, newMailServer } from "./test_mailbox.ts";

const test = suite("oauth/mail_budget");

test("no request for a reset or a sign-up makes more store calls or stores more than its budget", async () => {
  const { store, calls, written } = countingStore(memoryStore());
  const server = await newMailServer({
    store,
    signUp: { passwords: "open", providers: "open" },
  });
  const maxCosts = new Map<string, { storeCalls: number; storedBytes: number }>();
  const browser = server.browser();
  const ip = "2001:db8:1:2::1";
  async function open(path: string, form?: Record<string, string>): Promise<Response> {
    const [callsBefore, writtenBefore] = [calls(), written()];
    const response = await browser.open(path, { ip, ...(form && { form }) });
    const { pathname } = new URL(path, "https://as.example");
    const before = maxCosts.get(pathname) ?? { storeCalls: 0, storedBytes: 0 };
    maxCosts.set(pathname, {
      storeCalls: Math.max(before.storeCalls, calls() - callsBefore),
      storedBytes: Math.max(before.storedBytes, written() - writtenBefore),
    });
    return response;
  }
  /** A link as it is, and the page to which it leads. */
  async function follow(link: string): Promise<void> {
    const moved = await open(link);
    await open(moved.headers.get("location")!);
  }
  // Sessions that the reset ends, and an application whose access it ends.
  await server.tokens();
  for (let i = 0; i < 3; i++) await server.signIn();

  await open("/login/forgot");
  await open("/login/forgot", { identifier: "x".repeat(254) });
  await open("/login/forgot", { identifier: "alice" });
  await follow(linkOf(server.mails[0]));
  await open("/login/reset", { password: "short" });
  await open("/login/reset", { password: "down the rabbit hole", end_grants: "yes" });
  await open("/login/reset", { password: "down the rabbit hole" });
  const carol = {
    username: "c".repeat(128),
    name: "n".repeat(200),
    email: `${"c".repeat(60)}@${"d".repeat(60)}.example`,
    password: "higher further faster",
  };
  await open("/login/sign-up");
  const redirect = "?redirect=" + encodeURIComponent("/" + "r".repeat(1990));
  await open("/login/sign-up" + redirect, carol);
  await follow(linkOf(server.mails.at(-1)));
  await open("/login/sign-up/confirm", { password: "wrong" });
  await open("/login/sign-up/confirm", {});
  const { token } = await inviteUser(store, { email: "dave@example.com", role: "author" });
  await follow(`/login/invitation?token=${token}`);
  await open("/login/sign-up", { ...carol, username: "dave" });
  await follow(linkOf(server.mails.at(-1)));
  await open("/login/verify-email", {});

  const expected = Object.keys(ENDPOINT_BUDGETS).filter((path) => path.startsWith("/login/")).sort();
  const mine = [...maxCosts.keys()].sort();
  for (const path of mine.filter((path) => maxCosts.get(path)!.storeCalls > 0)) {
    assert.ok(expected.includes(path), `${path} has a budget`);
  }
  for (const [path, cost] of maxCosts) {
    const budget = ENDPOINT_BUDGETS[path] ?? { storeCalls: 0, storedBytes: 0 };
    for (const name of ["storeCalls", "storedBytes"] as const) {
      assert.ok(cost[name] <= budget[name], `${path} ${name}: ${cost[name]} of ${budget[name]}`);
      // A budget that nothing comes near limits nothing.
      assert.ok(cost[name] >= budget[name] / 4, `${path} ${name}: only ${cost[name]} of ${budget[name]}`);
    }
  }
});

test.run();
