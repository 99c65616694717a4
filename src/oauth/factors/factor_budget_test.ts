import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { countingStore } from "../../store/test_counting_store.ts";
import { ENDPOINT_BUDGETS } from "../request_budget.ts";
import { ISSUER } from "../test_server.ts";
import { newAuthenticator } from "./test_authenticator.ts";
import { type Browser, codesOf, newFactorServer, optionsOf } from "./test_factors.ts";

const test = suite("oauth/factors/factor_budget");

test("no request about factors makes more store calls or stores more than its endpoint's budget", async () => {
  const { store, calls, written } = countingStore(memoryStore());
  const server = await newFactorServer({ store });
  const maxCosts = new Map<string, { storeCalls: number; storedBytes: number }>();
  const measure = (browser: Browser): Browser => {
    const { get, post } = browser;
    const measured = async <Reply>(path: string, send: () => Promise<Reply>) => {
      const [callsBefore, writtenBefore] = [calls(), written()];
      const reply = await send();
      const endpoint = new URL(path, ISSUER).pathname;
      const { storeCalls, storedBytes } = maxCosts.get(endpoint) ?? { storeCalls: 0, storedBytes: 0 };
      maxCosts.set(endpoint, {
        storeCalls: Math.max(storeCalls, calls() - callsBefore),
        storedBytes: Math.max(storedBytes, written() - writtenBefore),
      });
      return reply;
    };
    return Object.assign(browser, {
      get: (path: string) => measured(path, () => get(path)),
      post: (path: string, form: Record<string, string>, headers?: Record<string, string>) =>
        measured(path, () => post(path, form, headers)),
    });
  };
  // IPv6, where a network is counted twice.
  const newBrowser = () => measure(server.newBrowser("2001:db8:1:2::1"));

  const owner = newBrowser();
  for (let i = 0; i < 20; i++) await owner.addPasskey(await newAuthenticator(ISSUER, true, 255));
  const authenticator = await newAuthenticator(ISSUER);
  assert.is((await owner.addPasskey(authenticator)).page.status, 400);
  const [entry] = await store.list<{ passkeys: { id: string }[] }>(["user_factors"]);
  const { id } = entry!.value.passkeys[0]!;
  await owner.post("/account/factors/rename", { id, label: "x".repeat(1000) });
  await owner.post("/account/factors/remove", { id });
  await owner.addPasskey(authenticator);
  const { secret } = await owner.addTotp();
  const codes = codesOf((await owner.post("/account/factors/codes", {})).text);
  await owner.get("/account/factors");

  const passkeyOnly = newBrowser();
  const options = optionsOf((await passkeyOnly.get("/login")).text);
  await passkeyOnly.post("/login/passkey", { credential: await authenticator.get(options) });
  for (let i = 0; i < 10; i++) {
    const guesser = newBrowser();
    await guesser.enterPassword();
    await guesser.post("/login/factor", { code: i === 3 ? codes[0]! : "000000" });
    await guesser.post("/login/factor", { code: "nonsense" });
  }
  server.advance(86_400);
  const late = newBrowser();
  await late.enterPassword();
  await late.post("/login/factor", { code: await server.codeOf(secret) });
  await late.enterPassword();
  const second = optionsOf((await late.get("/login/factor")).text);
  await late.post("/login/factor", { credential: await authenticator.get(second) });

  for (const [endpoint, { storeCalls, storedBytes }] of maxCosts) {
    const budget = ENDPOINT_BUDGETS[endpoint] ?? { storeCalls: 0, storedBytes: 0 };
    assert.ok(storeCalls <= budget.storeCalls, `${endpoint}: ${storeCalls} store calls`);
    assert.ok(storedBytes <= budget.storedBytes, `${endpoint}: ${storedBytes} bytes stored`);
    if (!/factor|passkey/.test(endpoint)) continue;
    // A budget that nothing comes near limits nothing.
    assert.ok(storeCalls >= budget.storeCalls / 4, `${endpoint}: only ${storeCalls} store calls`);
    assert.ok(storedBytes >= budget.storedBytes / 4, `${endpoint}: only ${storedBytes} bytes stored`);
  }
  for (const endpoint of Object.keys(ENDPOINT_BUDGETS).filter((path) => /factor|passkey/.test(path))) {
    assert.ok(maxCosts.has(endpoint), endpoint);
  }
});

test.run();
