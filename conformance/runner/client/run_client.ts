/**
 * Runs scenarios against a client: first the correct flow, then one deviation at a time.
 *
 * @module
 */
import { KitError } from "../outcome.ts";
import type { LoadedScenario } from "./scenario.ts";
import { describeEnd, judge, toEnding, type Verdict } from "./judge.ts";
import { type Driver, type DriverResult, EXIT } from "./driver.ts";
import type { RecordedRequest } from "./recorded.ts";
import { openScenarioServer } from "./server.ts";

/** The result of one scenario. */
export interface ClientResult extends Verdict {
  readonly name: string;
  readonly covers: readonly string[];
  readonly requests: readonly RecordedRequest[];
}

/** The client as the authorization server knows it. */
const CLIENT = {
  id: "app",
  secret: "s3cret",
  redirect_uri: "http://127.0.0.1:49152/callback",
  text: "hello",
};

/**
 * Runs scenarios.
 *
 * @param without needs (`NEEDS`) that the client does not have; scenarios with them are skipped
 * @param jobs number of scenarios that run at the same time
 */
export async function runClient(
  scenarios: readonly LoadedScenario[],
  driver: Driver,
  jobs: number,
  without: readonly string[] = [],
): Promise<ClientResult[]> {
  const baselines = new Map<string, Promise<Baseline>>();
  const results = new Map<string, ClientResult>();
  const queue = [...scenarios];
  const getBaseline = (loaded: LoadedScenario): Promise<Baseline> => {
    const key = `${loaded.suite} ${loaded.flow}`;
    let baseline = baselines.get(key);
    if (!baseline) baselines.set(key, baseline = runBaseline(loaded, driver));
    return baseline;
  };
  await Promise.all(Array.from({ length: jobs }, async () => {
    for (let loaded; (loaded = queue.shift());) {
      const missing = loaded.scenario.needs?.find((need) => without.includes(need));
      const baseline: Baseline = missing === undefined
        ? await getBaseline(loaded)
        : { outcome: "skip", reason: `the client is without "${missing}"` };
      results.set(
        loaded.name,
        baseline.outcome === "pass"
          ? await runScenario(loaded, driver)
          : { ...baseline, ...toNames(loaded), harm: false, requests: [] },
      );
    }
  }));
  return scenarios.map(({ name }) => results.get(name)!);
}

type Baseline = Pick<Verdict, "outcome" | "reason">;

/** The flow against the correct server, which the client must accept. */
async function runBaseline(loaded: LoadedScenario, driver: Driver): Promise<Baseline> {
  const { id, title, covers } = loaded.scenario;
  const [[result]] = await perform({ ...loaded, scenario: { id, title, covers, expect: {} } }, driver);
  if (result?.code === EXIT.unsupported) {
    return { outcome: "skip", reason: `the driver does not support the flow "${loaded.flow}"` };
  }
  if (result && toEnding(result) === "accepted") return { outcome: "pass" };
  const end = result ? describeEnd(result) : "";
  return { outcome: "setup", reason: `the correct flow "${loaded.flow}" was not accepted: ${end}` };
}

async function runScenario(loaded: LoadedScenario, driver: Driver): Promise<ClientResult> {
  try {
    const [results, requests, variables, isReached] = await perform(loaded, driver);
    if (!isReached) {
      const reason = "the client did not send the request at which the server deviates";
      return { ...toNames(loaded), outcome: "skip", harm: false, reason, requests };
    }
    const verdict = await judge(loaded, results, requests, variables);
    return { ...verdict, ...toNames(loaded), requests };
  } catch (error) {
    if (!(error instanceof KitError)) throw error;
    return { ...toNames(loaded), outcome: "error", harm: false, reason: error.message, requests: [] };
  }
}

function toNames({ name, scenario }: LoadedScenario): { name: string; covers: readonly string[] } {
  return { name, covers: scenario.covers };
}

async function perform(
  loaded: LoadedScenario,
  driver: Driver,
): Promise<[DriverResult[], readonly RecordedRequest[], Record<string, unknown>, boolean]> {
  const { scenario, flow, suite } = loaded;
  const client: Readonly<Record<string, string>> = { ...CLIENT, ...scenario.client };
  const server = await openScenarioServer(loaded);
  try {
    const results: DriverResult[] = [];
    for (let run = 0; run < (scenario.runs ?? 1); run++) {
      results.push(
        await driver({
          CONFORMANCE_BASE: suite === "mcp" ? `${server.base}/mcp` : server.base,
          CONFORMANCE_FLOW: flow,
          CONFORMANCE_CLIENT_ID: client["id"]!,
          CONFORMANCE_CLIENT_SECRET: client["secret"]!,
          CONFORMANCE_REDIRECT_URI: client["redirect_uri"]!,
          CONFORMANCE_SCOPE: "read",
          CONFORMANCE_TEXT: client["text"]!,
        }),
      );
    }
    const [error] = server.errors;
    if (error) throw error;
    const first = Object.fromEntries(server.requests.toReversed().map((each) => [each.at, each]));
    const variables = { base: server.base, foreign: server.foreign, client, first };
    const isReached = (scenario.deviations ?? []).length === 0 || server.hasDeviated();
    return [results, [...server.requests], variables, isReached];
  } finally {
    await server.close();
  }
}
