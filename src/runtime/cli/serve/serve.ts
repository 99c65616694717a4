/**
 * `trivet serve`: runs all services on one port, from a data folder.
 *
 * @module
 */
import { createTrivet, type Trivet } from "../../../trivet.ts";
import { openBreachedPasswords } from "../../breached_passwords.ts";
import type { RunningServer, ServeOptions } from "../../server.ts";
import { openStore } from "../data.ts";
import { printError, printLine } from "../output.ts";
import { startTelemetry } from "../telemetry.ts";
import { startBackgroundWork } from "./background_work.ts";
import { watchClientDocuments } from "./client_documents.ts";
import { type OpenedParts, toTrivetOptions } from "./to_trivet_options.ts";
import { ensureDemo, ensureSkills, toShownDemo } from "./demo.ts";
import { createLateHandler, type LateHandler, listen } from "./listen.ts";
import { logUpgrade } from "./log_upgrade.ts";
import { createObservers } from "./observe.ts";
import { limitsAddresses } from "./rate_limit_options.ts";
import { printStart } from "./serve_banner.ts";
import { describeServe } from "./serve_options.ts";
import { readServeSettings, type ServeSettings } from "./serve_settings.ts";
import { checkStart } from "./start_checks.ts";
import {
  closeAll,
  exitSoon,
  finishRequests,
  stopOnSignal,
  type TrackedHandler,
  trackRequests,
} from "./stop.ts";

export const help: () => string = describeServe;

export async function run(argv: readonly string[]): Promise<void> {
  const settings = await readServeSettings(argv);
  const { values, module, tls, reportFault } = settings;
  const otel = values.otel ? await startTelemetry() : undefined;
  const breached = values["breached-passwords"] === undefined
    ? undefined
    : await openBreachedPasswords(values["breached-passwords"]);
  // Listens before it creates anything: a port that is in use must leave no trace, and the free port is known only then.
  const late = createLateHandler();
  const handler = trackRequests(late);
  const address = {
    port: values.port,
    hostname: values.host,
    onError: reportFault,
    closeTimeout: values["stop-timeout"] * 1000,
    tls: tls?.current,
  };
  const server = await listen(handler, address);
  const stop = stopOnSignal(() => !late.isReady);
  const clientDocuments = watchClientDocuments(
    values["client-documents"],
    values.json || values.quiet ? () => {} : printLine,
  );
  try {
    await serveStore(settings, {
      server,
      late,
      handler,
      address,
      stop,
      clientDocuments,
      breached,
      telemetry: otel?.telemetry,
    });
  } finally {
    clientDocuments.stop();
    await server.close();
    await breached?.close();
    await otel?.stop();
    if (module) exitSoon();
  }
}

/** What runs before the store is opened. */
interface ListeningParts extends Pick<OpenedParts, "clientDocuments" | "breached" | "telemetry"> {
  readonly server: RunningServer;
  readonly late: LateHandler;
  /** Answers the requests of the server, by `late`. */
  readonly handler: TrackedHandler;
  readonly address: ServeOptions & { readonly closeTimeout: number };
  /** Resolves when the server is to stop. */
  readonly stop: Promise<void>;
}

/** Opens the store, serves what is in it until the server is to stop, and closes it. */
async function serveStore(
  settings: ServeSettings,
  { server, late, handler, address, stop, ...parts }: ListeningParts,
): Promise<void> {
  const { values, place, module, log } = settings;
  const issuer = values.issuer ?? `${settings.tls ? "https" : "http"}://127.0.0.1:${server.port}`;
  const older = values["no-upgrade"] ? "refuse" : logUpgrade(log);
  const metricsHandler = createLateHandler();
  const metricsServer = values["metrics-port"] === undefined ? undefined : await listen(
    metricsHandler,
    { ...address, port: values["metrics-port"], tls: undefined },
    "--metrics-port",
  );
  const opened = await openStore(place, { create: true, cacheMs: values.cache, older, mayBeDown: true })
    .catch(
      async (error) => {
        await metricsServer?.close();
        throw error;
      },
    );
  const basePath = new URL(issuer).pathname.replace(/\/$/, "");
  const observers = createObservers(values, log, opened, basePath, settings.metricsToken);
  const { store } = observers;
  let trivet: Trivet | undefined;
  try {
    const definitions = await module?.load({ store }) ?? [];
    ensureNamedSkills(settings);
    const blobs = await place.openBlobs();
    trivet = createTrivet(
      await toTrivetOptions(settings, { ...parts, issuer, observers, blobs, definitions }),
    );
    if (trivet.mcp) observers.measureStreams(trivet.mcp);
    await trivet.mcp?.ready();
    await trivet.gateway?.ready();
    const { demo, created } = settings.wantsDemo
      ? await ensureDemo(store, place.store === "memory" ? undefined : place.folder)
      : { demo: undefined, created: false };
    await checkStart(log, {
      store,
      place,
      hasTls: settings.tls !== undefined,
      tools: definitions.length,
      limitsAddresses: limitsAddresses(values),
      knowsProxies: settings.server.trustedProxies !== undefined,
    });
    late.start(observers.wrap(trivet));
    metricsHandler.start(observers.own);
    const stopWork = await startBackgroundWork(settings, { trivet, server, store, issuer });
    printStart(settings, {
      issuer,
      url: server.url,
      definitions,
      ...await toShownDemo(store, demo, { created, wantsSecrets: values["show-secrets"] === true }),
      isFirstStart: created,
    });
    log.line("info", "started", {
      issuer,
      url: server.url,
      store: place.store.split(":")[0],
      metrics: metricsServer?.url,
    });
    await stop;
    stopWork();
    observers.health.drain();
    log.line("info", "stopping", { drain: values.drain });
    await new Promise((resolve) => setTimeout(resolve, values.drain));
  } finally {
    await finishRequests(server, handler, trivet?.mcp, address.closeTimeout);
    await closeAll([
      () => trivet?.gateway?.close(),
      () => metricsServer?.close(),
      () => trivet?.skills?.flush(),
      () => observers.close(),
      () => store.close(),
    ], address.closeTimeout);
  }
}

/** Makes the folder of skills, and says so where an option names one that did not exist. */
function ensureNamedSkills({ values, skills: { named: [folder], isServed } }: ServeSettings): void {
  if (isServed && folder !== undefined && ensureSkills(folder) && values.skills) {
    printError(`trivet serve: made the folder "${folder}", which did not exist, with two example skills`);
  }
}
