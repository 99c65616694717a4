/**
 * `npm run mutants -- --proxy`: prints how many mutants the vectors kill on a server.
 *
 * @module
 */
import type { TargetArguments } from "../../runner/target/target_file.ts";
import type { Mutant } from "../mutant.ts";
import { type ProxyFigures, toProxyFigures } from "./proxy_figures.ts";
import {
  isProxyMutant,
  type ProxyOutcome,
  type ProxyResult,
  type ProxyServer,
  runProxyMutants,
} from "./run_proxy.ts";

const WORDS: Readonly<Record<ProxyOutcome, string>> = {
  killed: "killed",
  survived: "SURVIVED",
  unchanged: "no effect",
  prevented: "prevented",
  "not-asked": "not asked",
};

/**
 * @param store receives the figures of the run
 * @returns the exit code: 1 if a mutant survived, 2 if no mutant was asked
 */
export async function reportProxyMutants(
  args: TargetArguments,
  mutants: readonly Mutant[],
  print: (line?: string) => void,
  isVerbose: boolean,
  store: (figures: ProxyFigures) => void = () => {},
): Promise<number> {
  const results: ProxyResult[] = [];
  const started = performance.now();
  let server: ProxyServer | undefined;
  await runProxyMutants(args, mutants.filter(isProxyMutant), (opened) => {
    server = opened;
    print(`${opened.name}: ${opened.passing} vectors pass without a fault\n`);
  }, (result) => {
    results.push(result);
    if (isVerbose || result.outcome === "killed" || result.outcome === "survived") print(describe(result));
  });
  const figures = toProxyFigures(server!, results, new Date().toISOString().slice(0, 10));
  const { killed, survived, prevented, unchanged, not_asked } = figures;
  const tested = killed + survived.length;
  const seconds = Math.round((performance.now() - started) / 1000);
  print(
    `\n${figures.name}: ${killed} of ${tested} mutants killed in ${seconds} s; ${unchanged} have no effect on ` +
      `this server, ${prevented.length} prevent every vector, ${not_asked} not asked`,
  );
  store(figures);
  return tested === 0 ? 2 : survived.length > 0 ? 1 : 0;
}

function describe({ mutant: { name, fault }, outcome, asked, passed }: ProxyResult): string {
  const tested = asked.length > 0 ? ` (${asked.length - passed.length} of ${asked.length} vectors fail)` : "";
  const line = `${WORDS[outcome].padEnd(10)}${name}: ${fault}${tested}`;
  return outcome === "survived" ? `${line}\n          passed: ${passed.join(" ")}` : line;
}
