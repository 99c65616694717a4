/**
 * Trivet on Cloudflare Workers, with its state in the D1 database `DB`.
 *
 * @module
 */
import { createTrivet, tool } from "trivet";
import { type D1Binding, d1Store } from "trivet/store/d1";
import { toWorker, type Worker } from "trivet/workerd";

/** The bindings and variables of `wrangler.jsonc`. */
interface Env {
  readonly DB: D1Binding;
  /** The https URL of the server. */
  readonly ISSUER: string;
  /** The client that operates this server, and its secret (`wrangler secret put OPERATOR_SECRET`). */
  readonly OPERATOR_ID: string;
  readonly OPERATOR_SECRET: string;
}

const worker: Worker<Env> = toWorker((env: Env) =>
  createTrivet({
    issuer: env.ISSUER,
    store: d1Store(env.DB),
    oauth: { clients: [{ id: env.OPERATOR_ID, secret: env.OPERATOR_SECRET }] },
    mcp: {
      auth: "required",
      tools: [tool({
        name: "add",
        description: "Adds two numbers.",
        input: {
          type: "object",
          properties: { a: { type: "number" }, b: { type: "number" } },
          required: ["a", "b"],
        },
        run: ({ a, b }: { a: number; b: number }) => a + b,
      })],
    },
  })
);

export default {
  fetch: worker.fetch,
  /** Removes expired records: a Worker has no timers between requests. */
  async scheduled(_event: unknown, env: Env): Promise<void> {
    await d1Store(env.DB).sweep();
  },
};
