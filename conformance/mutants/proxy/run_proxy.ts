/**
 * Runs vectors against a server behind a fault: mutation testing of the vectors on a server that is not Trivet.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import type { Sender } from "../../runner/exchange/exchange.ts";
import { runAll } from "../../runner/run.ts";
import { openTarget } from "../../runner/target/open_target.ts";
import type { Target } from "../../runner/target/target.ts";
import type { TargetArguments } from "../../runner/target/target_file.ts";
import { digestVectors } from "../../runner/vector/digest.ts";
import { type LoadedVector, loadRequirements, loadVectors } from "../../runner/vector/load.ts";
import { isJsonObject } from "../../runner/vector/vector_file.ts";
import type { Mutant, Wrap } from "../mutant.ts";
import { replaceRegistered } from "../registered_clients.ts";
import { type FaultSender, faultSender } from "./fault_sender.ts";
import { withSender } from "../with_sender.ts";
import { type PathTranslation, translatePaths } from "./paths.ts";

/**
 * `unchanged`: the fault changed no request and no response. `prevented`: it broke what every vector needs first, such as
 * the sign-in. `not-asked`: no vector that it names passes without it.
 */
export type ProxyOutcome = "killed" | "survived" | "unchanged" | "prevented" | "not-asked";

export interface ProxyResult {
  readonly mutant: Mutant;
  readonly outcome: ProxyOutcome;
  /** Vectors that the mutant names and that pass on the server without it. */
  readonly asked: readonly string[];
  /** Those of `asked` that passed. */
  readonly passed: readonly string[];
}

/** The server behind the faults. */
export interface ProxyServer {
  readonly name: string;
  readonly version: string | undefined;
  /** Digest of the vectors that pass without a fault. */
  readonly digest: string;
  readonly passing: number;
}

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SEED = "mutants";
/** Short, because some faults suppress the response. */
const RESPONSE_TIMEOUT_S = 5;

/** The mutants that change only requests and responses, and so work before any HTTP server. */
export const isProxyMutant = ({ wrap, store, isClockStopped, isOpenai, stdio }: Mutant): boolean =>
  wrap !== undefined && !store && !isClockStopped && !isOpenai && !stdio;

/**
 * Opens a server, and runs on each mutant the vectors that it names.
 *
 * @param onReady receives the server before the first mutant runs
 * @param onResult called after each mutant
 */
export async function runProxyMutants(
  args: TargetArguments,
  mutants: readonly Mutant[],
  onReady: (server: ProxyServer) => void,
  onResult: (result: ProxyResult) => void,
): Promise<void> {
  const suites = [...new Set(mutants.map(({ name }) => name.split("/")[0]!))];
  const target = await openTarget({ ...args, seconds: RESPONSE_TIMEOUT_S, suiteFolders: new Set(suites) });
  try {
    if (!target.sender) {
      throw new TypeError("Mutants work before an HTTP server, not on standard input and output.");
    }
    replaceRegistered(target.variables);
    const named = new Set(mutants.flatMap(({ killedBy }) => killedBy));
    const vectors = loadVectors(ROOT, suites, loadRequirements(ROOT)).filter((each) =>
      named.has(each.name) && isRepeatable(each, target)
    );
    const paths = translatePaths(readEndpoints(target));
    const passing = await findPassing(vectors, target, target.sender, paths);
    const { name, version } = target;
    onReady({ name, version, digest: digestVectors(passing), passing: passing.length });
    for (const mutant of mutants) onResult(await runMutant(mutant, passing, target, target.sender, paths));
  } finally {
    await target.close();
  }
}

/** Without a reset, a vector that uses up a limit would change what follows. */
function isRepeatable({ vector }: LoadedVector, { procedures }: Target): boolean {
  return vector.slow !== true && (vector.alone !== true || procedures.has("reset"));
}

async function findPassing(
  vectors: readonly LoadedVector[],
  target: Target,
  sender: Sender,
  paths: PathTranslation,
): Promise<LoadedVector[]> {
  const results = await runBehind(vectors, target, faultSender(sender, paths));
  const passed = new Set(results.filter(({ outcome }) => outcome === "pass").map(({ name }) => name));
  return vectors.filter(({ name }) => passed.has(name));
}

async function runMutant(
  mutant: Mutant,
  passing: readonly LoadedVector[],
  target: Target,
  sender: Sender,
  paths: PathTranslation,
): Promise<ProxyResult> {
  const chosen = passing.filter(({ name }) => mutant.killedBy.includes(name));
  const faulty = faultSender(sender, paths, mutant.wrap as Wrap);
  const results = await runBehind(chosen, target, faulty);
  const passed = results.filter(({ outcome }) => outcome === "pass").map(({ name }) => name);
  const asked = chosen.map(({ name }) => name);
  const isKilled = results.some(({ outcome }) => /^(fail|warn|observe)$/.test(outcome));
  const outcome = asked.length === 0
    ? "not-asked"
    : isKilled
    ? "killed"
    : passed.length === 0
    ? "prevented"
    : faulty.hasChanged()
    ? "survived"
    : "unchanged";
  return { mutant, outcome, asked, passed };
}

function runBehind(vectors: readonly LoadedVector[], target: Target, sender: FaultSender) {
  return runAll(vectors, { target: withSender(target, sender), seed: SEED, maxWaitSeconds: 0 });
}

function readEndpoints({ variables, discovered }: Target): Record<string, string> {
  const { endpoints, login } = variables;
  const urls = Object.entries(isJsonObject(endpoints) ? endpoints : {}).filter(([, url]) =>
    typeof url === "string"
  );
  return {
    ...(discovered !== undefined && { metadata: discovered }),
    ...(isJsonObject(login) && typeof login["url"] === "string" && { login: login["url"] }),
    ...Object.fromEntries(urls) as Record<string, string>,
  };
}
