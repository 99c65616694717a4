/**
 * `trivet serve`: runs all services on one port, from a data folder.
 *
 * @module
 */
import process from "node:process";
import { EDITOR_SCHEMES } from "../../../oauth/clients/redirect_uri.ts";
import { describeError } from "../../../observability/log.ts";
import { admin } from "../../../admin/admin.ts";
import { canHavePasskeys, passkeys } from "../../../passkeys.ts";
import { StoreUnavailableError } from "../../../store/store.ts";
import { createTrivet, type Trivet } from "../../../trivet.ts";
import { openBreachedPasswords } from "../../breached_passwords.ts";
import { publicConnect } from "../../connect_publicly.ts";
import type { FetchHandler, RunningServer } from "../../server.ts";
import { isShared, openStore, readPlace } from "../data.ts";
import { readArguments } from "../options.ts";
import { printError, printLine, UsageError } from "../output.ts";
import { readServedSkills } from "../skill/skill_folders.ts";
import { watchClientDocuments } from "./client_documents.ts";
import { ensureDemo, ensureSkills, UNKNOWN_DEMO, withoutSecrets } from "./demo.ts";
import { readArrange, readGateway } from "../gateway/gateway_options.ts";
import { listen } from "./listen.ts";
import { startTelemetry } from "../telemetry.ts";
import { logUpgrade } from "./log_upgrade.ts";
import { createObservers, createServeLog, readMetricsToken } from "./observe.ts";
import { exitSoon, listNames, reloadOnChange } from "./reload_tools.ts";
import { limitsAddresses, readRateLimits } from "./rate_limit_options.ts";
import { printBanner } from "./serve_banner.ts";
import { createSendMail } from "./serve_mail.ts";
import { readPages } from "./serve_pages.ts";
import {
  describeServe,
  readHasSkills,
  readSignUp,
  readTrustedProxies,
  readUpstream,
  SERVE_OPTIONS,
} from "./serve_options.ts";
import { readTls } from "./tls_files.ts";
import { checkStart } from "./start_checks.ts";
import { closeAll, finishRequests, stopOnSignal } from "./stop.ts";
import { readModule } from "./tool_module.ts";
import { watchSkills } from "./watch_skills.ts";

/** How often files that nothing refers to are looked for. */
const COLLECT_INTERVAL_MS = 10 * 60_000;
/** How often a server without requests looks for sessions that a command ended, to notify their clients. */
const LOGOUT_NOTICE_INTERVAL_MS = 15_000;

export const help: () => string = describeServe;

export async function run(argv: readonly string[]): Promise<void> {
  const { values, operands: [path] } = readArguments(argv, SERVE_OPTIONS, 1);
  const module = readModule(path, values);
  const trustedProxies = readTrustedProxies(values);
  const limits = readRateLimits(values);
  const place = readPlace(values, process.env);
  const { folder } = place;
  if (values.demo && values["no-demo"]) throw new UsageError("--demo and --no-demo exclude each other");
  // A database that others use as well gets a demo only on request.
  const wantsDemo = values.demo || !values["no-demo"] && !isShared(place);
  const { named, folders, isOffered } = readServedSkills(values, folder, path !== undefined);
  const hasSkills = readHasSkills(values);
  const upstream = readUpstream(values, process.env);
  const sendMail = createSendMail(values);
  const signUp = readSignUp(values, sendMail !== undefined);
  const metricsToken = readMetricsToken(process.env);
  const log = createServeLog(values);
  const reportFault = (error: unknown, where = "server") =>
    log.line("error", "fault", { where, error: describeError(error) });
  const pages = readPages(values);
  const gateway = await readGateway(
    values,
    (upstream, line) => log.line("debug", "upstream_stderr", { upstream, line }),
  );
  const otel = values.otel ? await startTelemetry() : undefined;
  const tls = readTls(values, (message) => log.line("warn", "tls", { message }));
  const breached = values["breached-passwords"] === undefined
    ? undefined
    : await openBreachedPasswords(values["breached-passwords"]);

  // Listens before it creates anything: a port that is in use must leave no trace, and the free port is known only then.
  let ready: (handler: FetchHandler) => void;
  const made = new Promise<FetchHandler>((resolve) => ready = resolve);
  let handler: FetchHandler | undefined;
  let trivet: Trivet | undefined;
  const whenReady: FetchHandler = {
    fetch: (request, context) =>
      handler ? handler.fetch(request, context) : made.then((handler) => handler.fetch(request, context)),
  };
  const closeTimeout = values["stop-timeout"] * 1000;
  const where = {
    port: values.port,
    hostname: values.host,
    onError: reportFault,
    closeTimeout,
    tls: tls?.current,
  };
  const server = await listen(whenReady, where);
  const stop = stopOnSignal(() => handler === undefined);
  const { supported: clientMetadataDocuments, stop: stopWatchingAccess } = watchClientDocuments(
    values["client-documents"],
    values.json || values.quiet ? () => {} : printLine,
  );
  try {
    const issuer = values.issuer ?? `${tls ? "https" : "http"}://127.0.0.1:${server.port}`;
    const older = values["no-upgrade"] ? "refuse" : logUpgrade(log);
    const opened = await openStore(place, { create: true, cacheMs: values.cache, older });
    const observers = createObservers(
      values,
      log,
      opened,
      new URL(issuer).pathname.replace(/\/$/, ""),
      metricsToken,
    );
    const { store } = observers;
    let metricsServer: RunningServer | undefined;
    try {
      if (values["metrics-port"] !== undefined) {
        metricsServer = await listen(
          observers.own,
          { ...where, port: values["metrics-port"], tls: undefined },
          "--metrics-port",
        );
      }
      const definitions = await module?.load({ store }) ?? [];
      if (hasSkills && named[0] !== undefined && ensureSkills(named[0]) && values.skills) {
        printError(
          `trivet serve: made the folder "${named[0]}", which did not exist, with two example skills`,
        );
      }
      const blobs = await place.openBlobs();
      trivet = createTrivet({
        issuer,
        store,
        ...(trustedProxies && { trustedProxies }),
        ...(limits && { rateLimits: limits }),
        oauth: {
          accessTokenFormat: values["token-format"],
          registration: values.registration,
          openid: values.openid,
          storedProviders: true,
          signUp,
          pages,
          ...(sendMail && { sendMail }),
          ...(canHavePasskeys(issuer) && { passkeys: passkeys() }),
          ...(breached && { passwordPolicy: { isBreached: breached.isBreached } }),
          resources: values.resource?.map((resource) => ({ resource })) ?? [],
          connect: publicConnect,
          clientMetadataDocuments,
          trustedClients: values["trust-client"] ?? [],
          redirectSchemes: [...EDITOR_SCHEMES, ...values["redirect-scheme"] ?? []],
        },
        skills: hasSkills && {
          folders,
          ...(blobs && { blobs }),
          ...(upstream && { messages: { upstream } }),
          ...(values.publish && { discovery: { workspaces: values.publish } }),
        },
        mcp: {
          auth: values["mcp-auth"],
          definitions,
          arrange: await readArrange(values),
          skills: isOffered,
          ...(values.name !== undefined && { name: values.name }),
          sse: values.sse,
          allowedHosts: values["allow-host"] ?? [],
          allowedOrigins: values["allow-origin"] ?? [],
        },
        ...(gateway && { gateway: gateway.option }),
        ...(!values["no-admin"] && { admin: admin() }),
        onEvent: observers.onEvent,
        onRequest: observers.onRequest,
        requestId: observers.requestId,
        telemetry: otel?.telemetry,
      });
      if (trivet.mcp) observers.measureStreams(trivet.mcp);
      await trivet.mcp?.ready();
      await trivet.gateway?.ready();
      const { demo, created } = wantsDemo
        ? await ensureDemo(store, place.store === "memory" ? undefined : folder)
        : { demo: undefined, created: false };
      await checkStart(log, {
        store,
        place,
        hasTls: tls !== undefined,
        tools: definitions.length,
        limitsAddresses: limitsAddresses(values),
        knowsProxies: trustedProxies !== undefined,
      });
      handler = observers.wrap(trivet);
      ready!(handler);
      const unwatchTls = tls?.watch(server, log);
      const unwatchSkills = await watchSkills(trivet, (message) => log.line("warn", "skills", { message }));
      const secrets = created || values["show-secrets"];
      const shown = demo === undefined ? UNKNOWN_DEMO : secrets ? demo : withoutSecrets(demo);
      if (values.json) {
        printLine(
          JSON.stringify({
            issuer,
            url: server.url,
            ...shown,
            mcp: `${issuer.replace(/\/$/, "")}/mcp`,
            skills_dir: hasSkills ? named[0] : undefined,
          }),
        );
      } else if (!values.quiet) {
        printBanner({
          issuer,
          skillFolders: hasSkills ? named : undefined,
          offersSkills: hasSkills && isOffered,
          upstream,
          hasSse: values.sse,
          module: module && `${module.name}: ${listNames(definitions)}`,
          hasGateway: gateway !== undefined,
          demo: wantsDemo ? shown : undefined,
          isFirstStart: created,
          hasAdmin: !values["no-admin"],
          needsToken: values["mcp-auth"] === "required",
        });
      }
      const stopFollowing = gateway &&
        (await import("../gateway/follow_file.ts")).followGatewayFile(
          gateway,
          trivet.gateway!,
          (message) => log.line("info", "gateway", { message }),
        );
      const stopReloading = module && reloadOnChange(trivet, module, { store });
      const notifying = values.openid &&
        setInterval(() => notifyEndedSessions(trivet!, issuer), LOGOUT_NOTICE_INTERVAL_MS);
      const collect = () => collectGarbage(trivet!, reportFault);
      const collecting = setInterval(collect, COLLECT_INTERVAL_MS);
      collect();
      log.line("info", "started", {
        issuer,
        url: server.url,
        store: place.store.split(":")[0],
        metrics: metricsServer?.url,
      });
      await stop;
      clearInterval(collecting);
      if (notifying) clearInterval(notifying);
      stopReloading?.();
      stopFollowing?.();
      unwatchSkills();
      unwatchTls?.();
      observers.health.drain();
      log.line("info", "stopping", { drain: values.drain });
      await new Promise((resolve) => setTimeout(resolve, values.drain));
    } finally {
      await finishRequests(server, trivet?.mcp, closeTimeout);
      await closeAll([
        () => trivet?.gateway?.close(),
        () => metricsServer?.close(),
        () => trivet?.skills?.flush(),
        () => observers.close(),
        () => store.close(),
      ], closeTimeout);
    }
  } finally {
    stopWatchingAccess();
    await server.close();
    await breached?.close();
    await otel?.stop();
    if (module) exitSoon();
  }
}

/** Removes contents that no skill refers to. A failure does no harm: the next run does it. */
function collectGarbage({ skills }: Trivet, reportFault: (error: unknown, where: string) => void): void {
  skills?.collectGarbage().catch((error) => {
    if (!(error instanceof StoreUnavailableError)) reportFault(error, "skills");
  });
}

/** A request with which the server looks for sessions that a command ended (`backchannel_logout.ts`), and notifies their clients. */
function notifyEndedSessions({ fetch }: Trivet, issuer: string): void {
  // A failure was reported as an event.
  fetch(new Request(`${issuer.replace(/\/$/, "")}/oauth/logout`)).catch(() => {});
}
