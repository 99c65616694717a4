/**
 * The tests that every driver must pass: the test file of a driver calls {@linkcode storeContract} with a function that
 * opens an empty store. Only tests import this folder.
 *
 * @module
 */
import { suite } from "uvu";
import type { Store } from "../store.ts";
import { closingTests } from "./closing.ts";
import { concurrencyTests } from "./concurrency.ts";
import { expiryTests } from "./expiry.ts";
import { formatTests } from "./formats.ts";
import { listTests } from "./lists.ts";
import { recordTests } from "./records.ts";
import type { ContractOptions, TestClock } from "./suite.ts";

/** Registers and runs the suite. */
export function storeContract(name: string, options: ContractOptions): void {
  const test = suite<{ store: Store; clock: TestClock }>(`store contract: ${name}`);

  test.before.each(async (context) => {
    let offset = 0;
    context.clock = {
      now: () => Date.now() + offset,
      advance: (milliseconds) => void (offset += milliseconds),
    };
    context.store = await options.open(context.clock.now);
  });
  test.after.each(async ({ store }) => {
    await store.close();
  });

  recordTests(test);
  expiryTests(test);
  listTests(test);
  concurrencyTests(test, options);
  if (options.reopen) formatTests(test, options.reopen);
  closingTests(test, options);
  test.run();
}
