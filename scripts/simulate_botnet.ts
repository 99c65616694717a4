/**
 * `node scripts/simulate_botnet.ts [HOURS]`: simulates a botnet of 10,000 addresses that sends 100 guesses a second against
 * one account and against a thousand. Prints, as JSON lines, how long the owner of an account waits for a session.
 *
 * @module
 */
import process from "node:process";
import { OWNERS, simulate } from "../src/oauth/attacks/test_botnet.ts";

const hours = Number(process.argv[2] ?? 1);
for (const cold of [false, true]) {
  for (const accounts of [1, 1000]) {
    for (const addresses of ["v4", "v6", "unknown"] as const) {
      const started = performance.now();
      const outcome = await simulate({ bots: 10_000, rate: 100, addresses, accounts, hours, cold });
      console.log(JSON.stringify({
        addresses,
        accounts,
        cold,
        sent: outcome.sent,
        checked: outcome.checked,
        load: Math.round(outcome.load * 100) / 100,
        records: outcome.records,
        longest: OWNERS.map((owner) => outcome.longest[owner]),
        later: OWNERS.map((owner) => outcome.longestLater[owner]),
        logins: outcome.logins,
        seconds: Math.round((performance.now() - started) / 1000),
      }));
    }
  }
}
