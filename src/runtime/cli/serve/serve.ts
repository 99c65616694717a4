/**
 * `trivet serve`: everything on one port, from a data folder.
 *
 * @module
 */
import process from "node:process";
import type { TrivetEvent } from "../../../events.ts";
import { StoreUnavailableError } from "../../../store/store.ts";
import { createTrivet, type Trivet } from "../../../trivet.ts";
import type { FetchHandler, RunningServer, ServeOptions } from "../../server.ts";
import { publicConnect } from "../../connect_publicly.ts";
import { CALLERS_HELP, CALLERS_OPTION, readCallers } from "./callers_option.ts";
import {
  CLIENT_DOCUMENTS_HELP,
  CLIENT_DOCUMENTS_OPTION,
  openClientDocuments,
  readClientDocuments,
} from "./client_documents_option.ts";
import { CLIENTS_HELP, CLIENTS_OPTION, readClients } from "./clients_option.ts";
import { DATA_HELP, DATA_OPTION, isShared, openStore, readPlace } from "../data.ts";
import { ensureDemo, ensureSkills, UNKNOWN_DEMO, withoutSecrets } from "./demo.ts";
import { endSoon, namesOf, offerChanges } from "./offer_tools.ts";
import {
  listOption,
  printError,
  printLine,
  readArguments,
  textOption,
  UsageError,
  wordOption,
} from "../output.ts";
import { readSkillFolders, SKILLS_HELP, SKILLS_OPTION } from "../skill/skill_folders.ts";
import { MODULE_HELP, MODULE_OPTION, readModule, WATCH_HELP } from "./tool_module.ts";
import { PROXY_HELP, PROXY_OPTION, readProxies } from "./trusted_proxy_option.ts";
import { describeUpstream, readUpstream, UPSTREAM_HELP, UPSTREAM_OPTION } from "./upstream.ts";
import { printBanner } from "./serve_banner.ts";
import { watchSkills } from "./watch_skills.ts";

export const help: string = `trivet serve: runs everything on one port

Usage: trivet serve [MODULE] [options]

${MODULE_HELP}

${WATCH_HELP}
  --port N            port; 0 takes a free one (default: 8787)
  --host ADDRESS      address to listen on (default: 127.0.0.1)
  --issuer URL        how clients reach the server (default: http://127.0.0.1:<port>)
${PROXY_HELP}
${DATA_HELP}
  --cache MS          with a store on the network: how long a token check may be answered from memory; a
                      revocation is acknowledged that much later (default: 1000)
${SKILLS_HELP}
  --publish WORKSPACE uploaded skills of it are at the well-known address too, for everybody; may come several times
${UPSTREAM_HELP}
  --token-format KIND opaque or jwt (default: opaque)
  --registration WHO  who may register a client: open, token (the scope clients:register) or off (default: open)
${CLIENT_DOCUMENTS_HELP}
${CLIENTS_HELP}
${CALLERS_HELP}
  --mcp-auth MODE     required, optional or off (default: optional)
  --sse               serve the transport of MCP 2024-11-05 as well, at /mcp/sse
  --no-demo           make no demo client, user and key on the first start
  --demo              make them also where the store is on the network
  --json              print the facts as one line of JSON
  --show-secrets      print the demo's secrets again; they stay in DIR/demo.json

Instances on one postgres:// or redis:// store are one server: any of them answers any request.
The first start in a data folder makes a demo client, user, API key and two skills.

Examples:
  trivet serve
  trivet serve ./tools.ts --watch
  trivet serve --port 0 --data /tmp/try --json
  trivet serve --host 0.0.0.0 --issuer https://agents.example.com --no-demo
`;

export async function run(argv: readonly string[]): Promise<void> {
  const { values, operands: [path] } = readArguments(argv, {
    ...DATA_OPTION,
    ...MODULE_OPTION,
    ...SKILLS_OPTION,
    ...UPSTREAM_OPTION,
    ...PROXY_OPTION,
    ...CALLERS_OPTION,
    ...CLIENT_DOCUMENTS_OPTION,
    ...CLIENTS_OPTION,
    port: { type: "string" },
    host: { type: "string" },
    issuer: { type: "string" },
    "token-format": { type: "string" },
    "registration": { type: "string" },
    "mcp-auth": { type: "string" },
    "no-demo": { type: "boolean" },
    demo: { type: "boolean" },
    cache: { type: "string" },
    json: { type: "boolean" },
    "show-secrets": { type: "boolean" },
    publish: { type: "string", multiple: true },
    sse: { type: "boolean" },
  }, 1);
  const module = readModule(path, values);
  const port = readPort(textOption(values, "port") ?? "8787");
  const hostname = textOption(values, "host") ?? "127.0.0.1";
  const trustedProxies = readProxies(values);
  const accessTokenFormat = wordOption(values, "token-format", ["opaque", "jwt"]) ?? "opaque";
  const registration = wordOption(values, "registration", ["open", "token", "off"]) ?? "open";
  const auth = wordOption(values, "mcp-auth", ["required", "optional", "off"]) ?? "optional";
  const { resources, allowedOrigins, allowedHosts } = readCallers(values);
  const documents = readClientDocuments(values);
  const clients = readClients(values);
  const place = readPlace(values, process.env);
  const { folder } = place;
  const cache = readMilliseconds(textOption(values, "cache") ?? "1000");
  // A database that others use as well gets nothing that nobody asked for.
  const wantsDemo = values.demo === true || values["no-demo"] !== true && !isShared(place);
  const { named, folders } = readSkillFolders(values, folder);
  const upstream = readUpstream(values, process.env);
  const workspaces = listOption(values, "publish");

  // Listens before anything is made: a port that is taken must leave no trace, and 0 is known only then.
  let ready: (trivet: Trivet) => void;
  const made = new Promise<Trivet>((resolve) => ready = resolve);
  let trivet: Trivet | undefined;
  const handler: FetchHandler = {
    fetch: (request, context) =>
      trivet ? trivet.fetch(request, context) : made.then((trivet) => trivet.fetch(request, context)),
  };
  const server = await listen(handler, { port, hostname, onError: reportFault });
  const stop = stopOnSignal();
  const { supported: clientMetadataDocuments, stop: stopAsking } = openClientDocuments(
    documents,
    values.json ? () => {} : printLine,
  );
  try {
    const issuer = textOption(values, "issuer") ?? `http://127.0.0.1:${server.port}`;
    const store = await openStore(place, cache);
    try {
      const definitions = await module?.load({ store }) ?? [];
      ensureSkills(named[0]!);
      const blobs = await place.openBlobs();
      trivet = createTrivet({
        issuer,
        store,
        ...(trustedProxies && { trustedProxies }),
        oauth: {
          accessTokenFormat,
          registration,
          resources,
          connect: publicConnect,
          clientMetadataDocuments,
          ...clients,
        },
        skills: {
          folders,
          ...(blobs && { blobs }),
          ...(upstream && { messages: { upstream } }),
          ...(workspaces && { discovery: { workspaces } }),
        },
        mcp: { auth, definitions, sse: values.sse === true, allowedHosts, allowedOrigins },
        onEvent: report,
      });
      const { demo, created } = wantsDemo
        ? await ensureDemo(store, place.store === "memory" ? undefined : folder)
        : { demo: undefined, created: false };
      ready!(trivet);
      const unwatchSkills = await watchSkills(trivet);
      const secrets = created || values["show-secrets"] === true;
      const shown = demo === undefined ? UNKNOWN_DEMO : secrets ? demo : withoutSecrets(demo);
      if (values.json) {
        printLine(
          JSON.stringify({ issuer, url: server.url, ...shown, mcp: `${issuer}/mcp`, skills_dir: named[0] }),
        );
      } else {
        const paths = values.sse ? "/mcp, /mcp/sse" : "/mcp";
        const tools = module ? `${paths}           ${module.name}: ${namesOf(definitions)}` : paths;
        printBanner(
          issuer,
          named.join(", "),
          describeUpstream(upstream),
          tools,
          wantsDemo ? shown : undefined,
          created,
          auth === "required",
        );
      }
      const unwatch = module && offerChanges(trivet, module, { store });
      const collecting = setInterval(() => collect(trivet!), COLLECT_EVERY);
      collect(trivet);
      await stop;
      clearInterval(collecting);
      unwatch?.();
      unwatchSkills();
      if (!values.json) printError("Stopping: requests in flight are finished first");
    } finally {
      // Streams have no end of their own that the server could wait for.
      trivet?.mcp?.close();
      await server.close();
      await trivet?.skills?.flush();
      await store.close();
    }
  } finally {
    stopAsking();
    await server.close();
    if (module) endSoon();
  }
}

/** How often files that nothing refers to are looked for, in milliseconds. */
const COLLECT_EVERY = 10 * 60_000;

/** A failure is no harm: the next time does it. */
function collect({ skills }: Trivet): void {
  skills?.collectGarbage().catch((error) => {
    if (!(error instanceof StoreUnavailableError)) reportFault(error, "skills");
  });
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
    const taken = /EADDRINUSE|AddrInUse|in use/i.test(code + message);
    const place = `${options.hostname}:${options.port}`;
    throw new Error(
      taken
        ? `Cannot listen on ${place}: another program does; choose another --port`
        : `Cannot listen on ${place}: ${message}`,
      { cause },
    );
  }
}

/** Resolves at the first signal to stop; a second one ends the process at once. */
function stopOnSignal(): Promise<void> {
  return new Promise((resolve) => {
    let asked = false;
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.on(signal, () => {
        if (asked) process.exit(1);
        asked = true;
        resolve();
      });
    }
  });
}

function readPort(text: string): number {
  if (/^[0-9]{1,5}$/.test(text) && Number(text) <= 65535) return Number(text);
  throw new UsageError(`--port must be a number from 0 to 65535, but is "${text}"`);
}

function readMilliseconds(text: string): number {
  if (/^[0-9]{1,6}$/.test(text)) return Number(text);
  throw new UsageError(`--cache must be a number of milliseconds, but is "${text}"`);
}

function report(event: TrivetEvent): void {
  if (event.type === "fault") reportFault(event.error, event.where);
  if (event.type === "store_unavailable") reportStore(event.error);
}

/** A store that is down fails every request: one line in this many milliseconds tells it. */
const STORE_LINE_EVERY = 10_000;
let storeLine = -Infinity;

function reportStore(error: unknown): void {
  if (performance.now() - storeLine < STORE_LINE_EVERY) return;
  storeLine = performance.now();
  printError(`trivet: requests get 503: ${error instanceof Error ? error.message : String(error)}`);
}

/** Faults go to the operator's terminal; they carry no request. */
function reportFault(error: unknown, where: string = "server"): void {
  printError(
    `trivet: fault in ${where}: ${error instanceof Error ? error.stack ?? error.message : String(error)}`,
  );
}
