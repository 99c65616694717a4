/**
 * `trivet serve`: runs all services on one port, from a data folder.
 *
 * @module
 */
import process from "node:process";
import type { TrivetEvent } from "../../../events.ts";
import { EDITOR_SCHEMES } from "../../../oauth/clients/redirect_uri.ts";
import { StoreUnavailableError } from "../../../store/store.ts";
import { createTrivet, type Trivet } from "../../../trivet.ts";
import { openBreachedPasswords } from "../../breached_passwords.ts";
import { publicConnect } from "../../connect_publicly.ts";
import type { FetchHandler, RunningServer, ServeOptions } from "../../server.ts";
import { isShared, openStore, readPlace } from "../data.ts";
import { readArguments } from "../options.ts";
import { printError, printLine } from "../output.ts";
import { readSkillFolders } from "../skill/skill_folders.ts";
import { watchClientDocuments } from "./client_documents.ts";
import { ensureDemo, ensureSkills, UNKNOWN_DEMO, withoutSecrets } from "./demo.ts";
import { exitSoon, listNames, reloadOnChange } from "./reload_tools.ts";
import { printBanner } from "./serve_banner.ts";
import { createSendMail } from "./serve_mail.ts";
import { readSignUp, readTrustedProxies, readUpstream, SERVE_HELP, SERVE_OPTIONS } from "./serve_options.ts";
import { readModule } from "./tool_module.ts";
import { watchSkills } from "./watch_skills.ts";

/** How often files that nothing refers to are looked for. */
const COLLECT_INTERVAL_MS = 10 * 60_000;
/** How often a server without requests looks for sessions that a command ended. */
const LOOK_INTERVAL_MS = 60_000;
/** A store that is down fails every request: it is reported once in this time. */
const STORE_REPORT_INTERVAL_MS = 10_000;

export const help: string = SERVE_HELP;

export async function run(argv: readonly string[]): Promise<void> {
  const { values, operands: [path] } = readArguments(argv, SERVE_OPTIONS, 1);
  const module = readModule(path, values);
  const trustedProxies = readTrustedProxies(values);
  const place = readPlace(values, process.env);
  const { folder } = place;
  // A database that others use as well gets a demo only on request.
  const wantsDemo = values.demo || !values["no-demo"] && !isShared(place);
  const { named, folders } = readSkillFolders(values, folder);
  const upstream = readUpstream(values, process.env);
  const sendMail = createSendMail(values);
  const signUp = readSignUp(values, sendMail !== undefined);
  const breached = values["breached-passwords"] === undefined
    ? undefined
    : await openBreachedPasswords(values["breached-passwords"]);

  // Listens before it creates anything: a port that is in use must leave no trace, and the free port is known only then.
  let ready: (trivet: Trivet) => void;
  const made = new Promise<Trivet>((resolve) => ready = resolve);
  let trivet: Trivet | undefined;
  const handler: FetchHandler = {
    fetch: (request, context) =>
      trivet ? trivet.fetch(request, context) : made.then((trivet) => trivet.fetch(request, context)),
  };
  const server = await listen(handler, { port: values.port, hostname: values.host, onError: reportFault });
  const stop = stopOnSignal();
  const { supported: clientMetadataDocuments, stop: stopWatchingAccess } = watchClientDocuments(
    values["client-documents"],
    values.json ? () => {} : printLine,
  );
  try {
    const issuer = values.issuer ?? `http://127.0.0.1:${server.port}`;
    const store = await openStore(place, values.cache);
    try {
      const definitions = await module?.load({ store }) ?? [];
      ensureSkills(named[0]!);
      const blobs = await place.openBlobs();
      trivet = createTrivet({
        issuer,
        store,
        ...(trustedProxies && { trustedProxies }),
        oauth: {
          accessTokenFormat: values["token-format"],
          registration: values.registration,
          openid: values.openid,
          storedProviders: true,
          signUp,
          ...(sendMail && { sendMail }),
          ...(breached && { passwordPolicy: { isBreached: breached.isBreached } }),
          resources: values.resource?.map((resource) => ({ resource })) ?? [],
          connect: publicConnect,
          clientMetadataDocuments,
          trustedClients: values["trust-client"] ?? [],
          redirectSchemes: [...EDITOR_SCHEMES, ...values["redirect-scheme"] ?? []],
        },
        skills: {
          folders,
          ...(blobs && { blobs }),
          ...(upstream && { messages: { upstream } }),
          ...(values.publish && { discovery: { workspaces: values.publish } }),
        },
        mcp: {
          auth: values["mcp-auth"],
          definitions,
          sse: values.sse,
          allowedHosts: values["allow-host"] ?? [],
          allowedOrigins: values["allow-origin"] ?? [],
        },
        onEvent: report,
      });
      await trivet.mcp?.ready();
      const { demo, created } = wantsDemo
        ? await ensureDemo(store, place.store === "memory" ? undefined : folder)
        : { demo: undefined, created: false };
      ready!(trivet);
      const unwatchSkills = await watchSkills(trivet);
      const secrets = created || values["show-secrets"];
      const shown = demo === undefined ? UNKNOWN_DEMO : secrets ? demo : withoutSecrets(demo);
      if (values.json) {
        printLine(
          JSON.stringify({ issuer, url: server.url, ...shown, mcp: `${issuer}/mcp`, skills_dir: named[0] }),
        );
      } else {
        printBanner({
          issuer,
          skillFolders: named,
          upstream,
          hasSse: values.sse,
          module: module && `${module.name}: ${listNames(definitions)}`,
          demo: wantsDemo ? shown : undefined,
          isFirstStart: created,
          needsToken: values["mcp-auth"] === "required",
        });
      }
      const stopReloading = module && reloadOnChange(trivet, module, { store });
      const collecting = setInterval(() => collect(trivet!), COLLECT_INTERVAL_MS);
      const looking = values.openid && setInterval(() => look(trivet!, issuer), LOOK_INTERVAL_MS);
      collect(trivet);
      await stop;
      clearInterval(collecting);
      if (looking) clearInterval(looking);
      stopReloading?.();
      unwatchSkills();
      if (!values.json) printError("Stopping after the requests in flight");
    } finally {
      // Event streams do not end by themselves: the server would wait for them.
      trivet?.mcp?.close();
      await server.close();
      await trivet?.skills?.flush();
      await store.close();
    }
  } finally {
    stopWatchingAccess();
    await server.close();
    await breached?.close();
    if (module) exitSoon();
  }
}

/** Removes contents that no skill refers to. A failure does no harm: the next run does it. */
function collect({ skills }: Trivet): void {
  skills?.collectGarbage().catch((error) => {
    if (!(error instanceof StoreUnavailableError)) reportFault(error, "skills");
  });
}

/** A request with which the server looks for sessions that a command ended (`backchannel_logout.ts`), and notifies their clients. */
function look({ fetch }: Trivet, issuer: string): void {
  // A failure was reported as an event.
  fetch(new Request(`${issuer.replace(/\/$/, "")}/oauth/logout`)).catch(() => {});
}

async function listen(handler: FetchHandler, options: ServeOptions): Promise<RunningServer> {
  const entry = "Deno" in globalThis
    ? await import("../../deno.ts")
    : "Bun" in globalThis
    ? await import("../../bun.ts")
    : await import("../../node.ts");
  try {
    return await entry.serve(handler, options);
  } catch (cause) {
    const { code = "", message } = cause as { code?: string; message: string };
    const isInUse = /EADDRINUSE|AddrInUse|in use/i.test(code + message);
    const address = `${options.hostname}:${options.port}`;
    throw new Error(
      isInUse
        ? `Cannot listen on ${address}: address already in use. Choose another --port`
        : `Cannot listen on ${address}: ${message}`,
      { cause },
    );
  }
}

/** Resolves at the first signal to stop; a second one ends the process at once. */
function stopOnSignal(): Promise<void> {
  return new Promise((resolve) => {
    let isStopping = false;
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.on(signal, () => {
        if (isStopping) process.exit(1);
        isStopping = true;
        resolve();
      });
    }
  });
}

function report(event: TrivetEvent): void {
  if (event.type === "fault") reportFault(event.error, event.where);
  if (event.type === "store_unavailable") reportStore(event.error);
  if (event.type === "mail_failed") printError(`trivet: mail not sent (${event.kind}): ${event.reason}`);
}

let lastStoreReport = -Infinity;

function reportStore(error: unknown): void {
  if (performance.now() - lastStoreReport < STORE_REPORT_INTERVAL_MS) return;
  lastStoreReport = performance.now();
  printError(
    `trivet: the store is unavailable, requests get 503: ${
      error instanceof Error ? error.message : String(error)
    }`,
  );
}

/** Prints a fault on the operator's terminal. Faults hold no data of a request. */
function reportFault(error: unknown, where: string = "server"): void {
  printError(
    `trivet: fault in ${where}: ${error instanceof Error ? error.stack ?? error.message : String(error)}`,
  );
}
