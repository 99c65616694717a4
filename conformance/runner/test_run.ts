/**
 * Runs vectors that a test defines against a target that a test defines. Imported by tests only.
 *
 * @module
 */
import type { LoadedVector } from "./vector/load.ts";
import type { Strength } from "./outcome.ts";
import { runAll } from "./run.ts";
import { moduleSender } from "./exchange/send_module.ts";
import type { Target } from "./target/target.ts";
import type { Procedure } from "./target/target_description.ts";
import type { Step, Vector } from "./vector/vector_file.ts";
import type { Result } from "./vector/vector.ts";

export const BASE = "https://target.example";

/** A target in this process, with short limits. */
export function testTarget(
  fetch: (request: Request) => Response | Promise<Response>,
  more: Partial<Target> & { readonly withProcedures?: Readonly<Record<string, Procedure>> } = {},
): Target {
  const { withProcedures = {}, ...rest } = more;
  return {
    name: "test",
    version: undefined,
    base: BASE,
    origins: new Set([BASE]),
    features: new Set([
      "http",
      ...Object.keys(withProcedures).map((name) => `procedure:${name}`),
      ...("advance" in withProcedures ? ["clock"] : []),
    ]),
    variables: { base: BASE, endpoints: { rpc: "/rpc" } },
    procedures: new Map(Object.entries(withProcedures)),
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

const ROW = { id: "format#7/1", text: "It is so", document: "format", link: "https://example.com" };

/** A vector with these steps. */
export function vectorOf(
  steps: readonly Step[],
  { before = [], strength = "MUST", id = "it", ...more }: {
    readonly before?: readonly Step[];
    readonly strength?: Strength;
  } & Partial<Vector> = {},
): LoadedVector {
  const vector: Vector = { id: `test/${id}`, title: "It is so", covers: [], steps, ...more };
  const file = {
    format: 2 as const,
    suite: "oauth/test",
    title: "Test",
    count: 1,
    before,
    vectors: [vector],
  };
  return { name: `oauth/test/${id}`, vector, file, rows: [{ ...ROW, level: strength }], strength };
}

export async function runOne(
  target: Target,
  steps: readonly Step[],
  more: Parameters<typeof vectorOf>[1] & { readonly maxWaitSeconds?: number } = {},
): Promise<Result> {
  const [result] = await runAll([vectorOf(steps, more)], {
    target,
    seed: "test",
    maxWaitSeconds: more.maxWaitSeconds ?? 0,
  });
  return result!;
}
