/**
 * `npm run mutants -- --proxy`: prints how many mutants the vectors kill on a server.
 *
 * @module
 */
import type { TargetArguments } from "../../runner/target/target_file.ts";
import type { Mutant } from "../mutant.ts";
import { isProxyMutant, type ProxyOutcome, type ProxyResult, runProxyMutants } from "./run_proxy.ts";

const WORDS: Readonly<Record<ProxyOutcome, string>> = {
  killed: "killed",
  survived: "SURVIVED",
  unchanged: "no effect",
  "not-asked": "not asked",
};

/** @returns the exit code: 1 if a mutant survived, 2 if no mutant was asked */
export async function reportProxyMutants(
  args: TargetArguments,
  mutants: readonly Mutant[],
  print: (line?: string) => void,
  isVerbose: boolean,
): Promise<number> {
  const counts = new Map<ProxyOutcome, number>();
  const started = performance.now();
  let server = "";
  await runProxyMutants(args, mutants.filter(isProxyMutant), (name, passing) => {
    server = name;
    print(`${name}: ${passing} vectors pass without a fault\n`);
  }, (result) => {
    counts.set(result.outcome, (counts.get(result.outcome) ?? 0) + 1);
    if (isVerbose || result.outcome === "killed" || result.outcome === "survived") print(describe(result));
  });
  const count = (outcome: ProxyOutcome): number => counts.get(outcome) ?? 0;
  const tested = count("killed") + count("survived");
  const seconds = Math.round((performance.now() - started) / 1000);
  print(
    `\n${server}: ${count("killed")} of ${tested} mutants killed in ${seconds} s; ` +
      `${count("unchanged")} have no effect on this server, ${count("not-asked")} not asked`,
  );
  return tested === 0 ? 2 : count("survived") > 0 ? 1 : 0;
}

function describe({ mutant: { name, fault }, outcome, asked, passed }: ProxyResult): string {
  const tested = asked.length > 0 ? ` (${asked.length - passed.length} of ${asked.length} vectors fail)` : "";
  const line = `${WORDS[outcome].padEnd(10)}${name}: ${fault}${tested}`;
  return outcome === "survived" ? `${line}\n          passed: ${passed.join(" ")}` : line;
}
