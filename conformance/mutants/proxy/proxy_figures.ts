/**
 * The figures of `npm run mutants -- --proxy --write`, stored beside the target, from which `RESULTS.md` is generated.
 *
 * @module
 */
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { VERSION } from "../../runner/version.ts";
import type { ProxyOutcome, ProxyResult, ProxyServer } from "./run_proxy.ts";

export const PROXY_FIGURES = "mutants.json";

export interface ProxyFigures {
  /** The server without its faults. */
  readonly name: string;
  readonly version?: string;
  readonly date: string;
  /** Version of the kit and digest of the vectors that ran. */
  readonly kit: string;
  readonly digest: string;
  readonly killed: number;
  /** Names of mutants. */
  readonly survived: readonly string[];
  /** Names of mutants that broke what every vector needs first. */
  readonly prevented: readonly string[];
  /** Mutants that changed no request and no response. */
  readonly unchanged: number;
  /** Mutants of which no vector passes on the server without them. */
  readonly not_asked: number;
}

/** @param day as `2026-11-23` */
export function toProxyFigures(
  { name, version, digest }: ProxyServer,
  results: readonly ProxyResult[],
  day: string,
): ProxyFigures {
  const list = (outcome: ProxyOutcome): string[] =>
    results.filter((each) => each.outcome === outcome).map(({ mutant }) => mutant.name);
  return {
    name,
    ...(version !== undefined && { version }),
    date: day,
    kit: VERSION,
    digest,
    killed: list("killed").length,
    survived: list("survived"),
    prevented: list("prevented"),
    unchanged: list("unchanged").length,
    not_asked: list("not-asked").length,
  };
}

/** Writes the figures beside a target file. */
export function storeProxyFigures(target: string, figures: ProxyFigures): void {
  writeFileSync(join(dirname(target), PROXY_FIGURES), JSON.stringify(figures, null, 2) + "\n");
}
