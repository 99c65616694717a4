import { suite } from "uvu";
import * as assert from "uvu/assert";
import { OWNERS, simulate } from "./test_botnet.ts";

const test = suite("oauth: an owner signs in while a botnet guesses");

/** What an owner waits at most, in milliseconds. */
const MAX_OWNER_WAIT = 5000;

for (const addresses of ["v4", "v6", "unknown"] as const) {
  for (const accounts of [1, 1000]) {
    test(`10,000 addresses (${addresses}), 100 guesses a second at ${accounts} accounts`, async () => {
      const outcome = await simulate({ bots: 10_000, rate: 100, addresses, accounts, hours: 0.01 });
      assert.ok(outcome.logins >= 6);
      for (const owner of OWNERS) {
        assert.ok(outcome.longest[owner] <= MAX_OWNER_WAIT, `${owner}: ${outcome.longest[owner]}`);
      }
      assert.ok(outcome.load > 0.8, "the guesses take all that hashes may take");
      if (addresses === "unknown") assert.is(outcome.records, 0);
    });
  }
}

test("a server that remembers no password lets a browser in that signed in before, from the first second on", async () => {
  for (const addresses of ["v4", "unknown"] as const) {
    const outcome = await simulate({
      bots: 10_000,
      rate: 100,
      addresses,
      accounts: 1,
      hours: 0.01,
      cold: true,
    });
    assert.ok(outcome.longest["device cookie"] <= MAX_OWNER_WAIT);
  }
});

test("and every owner from an address of their own, once each address of the botnet had its free guesses", async () => {
  // A hundredth of the addresses has had them after a hundredth of the time.
  const outcome = await simulate({
    bots: 100,
    rate: 100,
    addresses: "v4",
    accounts: 1,
    hours: 0.05,
    cold: true,
  });
  for (const owner of OWNERS) assert.ok(outcome.longestLater[owner] <= MAX_OWNER_WAIT, `${owner}`);
  assert.ok(outcome.checked <= 100 * 18);
});

test.run();
