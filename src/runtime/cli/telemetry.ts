/**
 * `--otel`: starts OpenTelemetry for `trivet serve` and `trivet stdio`. Its SDK reads where to export, and what, from
 * variables of the environment (`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_TRACES_EXPORTER`, …). An SDK that was started before,
 * with `node --import`, is used as it is.
 *
 * @module
 */
import process from "node:process";
import type { Telemetry } from "../../http/telemetry.ts";
import { waitAtMost } from "../../http/wait_at_most.ts";

/** How long what is left may take to be exported at the end. */
const SHUTDOWN_MS = 3000;

export interface RunningTelemetry {
  readonly telemetry: Telemetry;
  /** Exports what is left. */
  stop(): Promise<void>;
}

/**
 * Starts the SDK, unless one runs.
 * @throws {Error} naming the packages that are not installed
 */
export async function startTelemetry(): Promise<RunningTelemetry> {
  const { ProxyTracerProvider, trace } = await load(() => import("@opentelemetry/api"));
  const provider = trace.getTracerProvider();
  const isStarted = !(provider instanceof ProxyTracerProvider) ||
    provider.getDelegate() !== new ProxyTracerProvider().getDelegate();
  let stop = async (): Promise<void> => {};
  if (!isStarted) {
    const { NodeSDK } = await load(() => import("@opentelemetry/sdk-node"));
    process.env["OTEL_SERVICE_NAME"] ??= "trivet";
    const sdk = new NodeSDK();
    sdk.start();
    stop = async () => {
      // A collector that does not answer must not keep the process. Its failure was reported by the SDK.
      await waitAtMost(SHUTDOWN_MS, sdk.shutdown());
    };
  }
  const { openTelemetry } = await import("../../observability/opentelemetry/open_telemetry.ts");
  return { telemetry: openTelemetry(), stop };
}

async function load<Module>(importModule: () => Promise<Module>): Promise<Module> {
  try {
    return await importModule();
  } catch (error) {
    if ((error as { code?: string }).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new Error(
      '--otel requires the packages "@opentelemetry/api" and "@opentelemetry/sdk-node". ' +
        "Run: npm install @opentelemetry/api @opentelemetry/sdk-node",
      { cause: error },
    );
  }
}
