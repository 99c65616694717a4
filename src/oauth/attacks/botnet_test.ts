import { suite } from "uvu";
import * as assert from "uvu/assert";
import { OWNERS, simulate } from "./test_botnet.ts";

const test = suite("oauth: login during a botnet attack");

/** The longest that an owner may wait to sign in. */
const MAX_OWNER_WAIT_MS = 5000;

for (const addresses of ["v4", "v6", "unknown"] as const) {
  for (const accounts of [1, 1000]) {
    test(`an owner signs in within 5 s while 10,000 ${addresses} addresses guess at ${accounts} accounts`, async () => {
      const outcome = await simulate({ bots: 10_000, rate: 100, addresses, accounts, hours: 0.01 });
      assert.ok(outcome.logins >= 6);
      for (const owner of OWNERS) {
        assert.ok(outcome.longest[owner] <= MAX_OWNER_WAIT_MS, `${owner}: ${outcome.longest[owner]}`);
      }
      assert.ok(outcome.load > 0.8, "the guesses use most of the hash capacity");
      if (addresses === "unknown") assert.is(outcome.records, 0);
    });
  }
}

test("a browser with a device cookie signs in within 5 s on a server that remembers no password", async () => {
  for (const addresses of ["v4", "unknown"] as const) {
    const outcome = await simulate({
      bots: 10_000,
      rate: 100,
      addresses,
      accounts: 1,
      hours: 0.01,
      cold: true,
    });
    assert.ok(outcome.longest["device cookie"] <= MAX_OWNER_WAIT_MS);
  }
});

test("every owner signs in within 5 s on such a server, once each bot has used its free guesses", async () => {
  // With a hundredth of the addresses, each bot uses its free guesses in a hundredth of the time.
  const outcome = await simulate({
    bots: 100,
    rate: 100,
    addresses: "v4",
    accounts: 1,
    hours: 0.05,
    cold: true,
  });
  for (const owner of OWNERS) assert.ok(outcome.longestLater[owner] <= MAX_OWNER_WAIT_MS, `${owner}`);
  assert.ok(outcome.checked <= 100 * 18, "at most 18 guesses of each network are compared");
});

test.run();
