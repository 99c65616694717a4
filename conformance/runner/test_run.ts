/**
 * Runs vectors that stand in a test against a target that stands in a test. Nothing but tests imports this.
 *
 * @module
 */
import type { Loaded } from "./vector/load.ts";
import type { Strength } from "./outcome.ts";
import { runAll } from "./run.ts";
import { moduleSender } from "./exchange/send_module.ts";
import type { Target } from "./target/target.ts";
import type { Procedure } from "./target/target_description.ts";
import type { Step, Vector } from "./vector/vector_file.ts";
import type { Result } from "./vector/vector.ts";

export const BASE = "https://target.example";

/** A target in this process. */
export function testTarget(
  fetch: (request: Request) => Response | Promise<Response>,
  more: Partial<Target> & { readonly offers?: Readonly<Record<string, Procedure>> } = {},
): Target {
  const { offers = {}, ...rest } = more;
  return {
    name: "test",
    version: undefined,
    base: BASE,
    origins: new Set([BASE]),
    features: new Set([
      "http",
      ...Object.keys(offers).map((name) => `procedure:${name}`),
      ...("advance" in offers ? ["clock"] : []),
    ]),
    variables: { base: BASE, endpoints: { rpc: "/rpc" } },
    procedures: new Map(Object.entries(offers)),
    sendHeaders: {},
    limits: { seconds: 0.3, bytes: 100_000 },
    jobs: 2,
    deviations: {},
    sender: moduleSender(fetch),
    stdio: undefined,
    advanced: 0,
    close: () => Promise.resolve(),
    ...rest,
  };
}

/** One vector of these steps. */
export function vectorOf(
  steps: readonly Step[],
  { before = [], strength = "MUST", id = "it", ...more }: {
    readonly before?: readonly Step[];
    readonly strength?: Strength;
  } & Partial<Vector> = {},
): Loaded {
  const vector: Vector = { id: `test/${id}`, title: "It is so", covers: [], steps, ...more };
  const file = {
    format: 1 as const,
    suite: "oauth/test",
    title: "Test",
    count: 1,
    before,
    vectors: [vector],
  };
  return { name: `oauth/test/${id}`, vector, file, strength };
}

export async function runOne(
  target: Target,
  steps: readonly Step[],
  more: Parameters<typeof vectorOf>[1] & { readonly mostWaiting?: number } = {},
): Promise<Result> {
  const [result] = await runAll([vectorOf(steps, more)], {
    target,
    seed: "test",
    mostWaiting: more.mostWaiting ?? 0,
  });
  return result!;
}
