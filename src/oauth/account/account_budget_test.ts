import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { countingStore } from "../../store/test_counting_store.ts";
import { markGrantsEnded } from "../grants/end_grants.ts";
import { ENDPOINT_BUDGETS } from "../request_budget.ts";
import { oidc } from "../sign_in/oidc.ts";
import { CLIENT, newProvider, PROVIDER } from "../sign_in/test_provider.ts";
import { linkIdentity, MAX_IDENTITIES } from "../sign_in/user_identity.ts";
import { newServer } from "../test_server.ts";
import { ACCOUNT_PATHS } from "./routes.ts";

const test = suite("oauth/account/account_budget");
const SESSIONS = 12;
const GRANTS = 8;

test("no request for the account makes more store calls or stores more than its budget", async () => {
  const { store, calls, written } = countingStore(memoryStore());
  const provider = await newProvider();
  const server = await newServer({
    store,
    signIn: [oidc({ issuer: PROVIDER, ...CLIENT })],
    signInFetch: (url, init) => provider.fetch(url, init),
    sendMail: () => Promise.resolve(),
  });
  const maxCosts = new Map<string, { storeCalls: number; storedBytes: number }>();
  let cookie = "";
  async function open(path: string, form?: Record<string, string>): Promise<void> {
    const [callsBefore, writtenBefore] = [calls(), written()];
    const response = await server.service.fetch(
      new Request("https://as.example" + path, {
        headers: { cookie, "user-agent": "x".repeat(300) },
        ...(form && { method: "POST", body: new URLSearchParams(form) }),
      }),
      { ip: "2001:db8:1:2::1" },
    );
    const set = response.headers.getSetCookie().find((field) => field.startsWith("session_id="));
    if (set !== undefined) cookie = set.split(";")[0]!;
    const before = maxCosts.get(path) ?? { storeCalls: 0, storedBytes: 0 };
    maxCosts.set(path, {
      storeCalls: Math.max(before.storeCalls, calls() - callsBefore),
      storedBytes: Math.max(before.storedBytes, written() - writtenBefore),
    });
  }
  for (let i = 0; i < GRANTS; i++) await server.tokens({ scope: "read profile" });
  for (let i = GRANTS; i < SESSIONS; i++) await server.signIn();
  cookie = await server.signIn();
  const { id } = (await store.list<{ id: string }>(["user"]))[0]!.value;
  for (let i = 0; i < MAX_IDENTITIES; i++) {
    const identity = {
      issuer: PROVIDER,
      subject: "x".repeat(200) + i,
      emailVerified: false,
      groups: [],
      claims: {},
    };
    await linkIdentity(store, id, identity, { provider: "oidc", now: 0 });
  }
  for (let i = 0; i < 60; i++) {
    await markGrantsEnded(store, id, `https://client.example/${"x".repeat(1000)}${i}`);
  }

  // A request that writes when the session was used.
  server.advance(300);
  for (const path of ACCOUNT_PATHS.filter((path) => path !== "/account/export")) await open(path);
  await open("/account/profile", { name: "n".repeat(128) });
  await open("/account/email", { email: `${"c".repeat(60)}@${"d".repeat(60)}.example` });
  await open("/account/email", { email: "" });
  const password = { new_password: "down the hole 7", new_password_again: "down the hole 7" };
  await open("/account/password", { ...password, password: "wrong" });
  await open("/account/export", {});
  await open("/account/providers", { link: "oidc" });
  await open("/account/providers", { issuer: PROVIDER, subject: "x".repeat(200) + "1" });
  await open("/account/applications", { client_id: "app" });
  await open("/account/sessions", { session: "unknown" });
  await open("/account/password", { ...password, password: "wonderland" });
  await open("/account/sessions", { end: "others" });
  await server.tokens({ scope: "read profile" }).catch(() => {});
  await open("/account/delete", { confirmation: "alice" });
  assert.is(await store.get(["user", id]), undefined);

  const records = SESSIONS + GRANTS + 2;
  for (const path of ACCOUNT_PATHS) {
    const { storeCalls, storedBytes, storeCallsPerRecord = 0 } = ENDPOINT_BUDGETS[path]!;
    const cost = maxCosts.get(path)!;
    const most = storeCalls + storeCallsPerRecord * records;
    assert.ok(cost.storeCalls <= most, `${path}: ${cost.storeCalls} store calls of ${most}`);
    assert.ok(cost.storedBytes <= storedBytes, `${path}: ${cost.storedBytes} bytes stored of ${storedBytes}`);
    // A budget that nothing comes near limits nothing.
    assert.ok(cost.storeCalls >= most / 4, `${path}: only ${cost.storeCalls} store calls of ${most}`);
  }
});

test.run();
