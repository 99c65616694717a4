/**
 * The server under test: from a target file, a URL, a command or a module to something that vectors can talk to
 * (`FORMAT.md` section 9).
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { toText } from "./bytes.ts";
import { exchange, type Limits, type Sender } from "./exchange.ts";
import { parseJson } from "./match.ts";
import { httpSender } from "./send_http.ts";
import { type FetchHandler, moduleSender } from "./send_module.ts";
import type { StdioCommand } from "./send_stdio.ts";
import { isMembers, type Members, type Step } from "./vector_file.ts";

/** A procedure of a target: steps, a command, a question to the person who runs the kit, or a function of a module. */
export type Procedure =
  | readonly Step[]
  | { readonly exec: readonly string[]; readonly cwd?: string }
  | { readonly ask: string; readonly capture: string }
  | ((variables: Members) => Promise<Members | void> | Members | void);

/** A target file, or what a module's `start()` adds to it. */
export interface TargetDescription {
  readonly name?: string;
  readonly version?: string;
  readonly note?: string;
  readonly base?: string;
  readonly origins?: readonly string[];
  readonly stdio?: StdioCommand;
  readonly start?: StdioCommand & { readonly ready?: string };
  readonly module?: string;
  readonly discover?: string;
  readonly endpoints?: Readonly<Record<string, string>>;
  readonly features?: readonly string[];
  readonly vars?: Members;
  readonly procedures?: Readonly<Record<string, Procedure>>;
  readonly send_headers?: Readonly<Record<string, string>>;
  readonly limits?: { readonly seconds?: number; readonly bytes?: number; readonly jobs?: number };
  readonly deviations?: Readonly<Record<string, string>>;
}

/** What a module gives, by `start()` or as its own exports. */
export interface ModuleTarget extends TargetDescription {
  readonly fetch?: FetchHandler;
  readonly close?: () => Promise<void> | void;
}

export interface Target {
  readonly name: string;
  readonly version: string | undefined;
  readonly base: string;
  readonly origins: ReadonlySet<string>;
  readonly features: ReadonlySet<string>;
  readonly variables: Members;
  readonly procedures: ReadonlyMap<string, Procedure>;
  readonly sendHeaders: Readonly<Record<string, string>>;
  readonly limits: Limits;
  readonly jobs: number;
  readonly deviations: Readonly<Record<string, string>>;
  /** Absent for a server on stdio. */
  readonly sender: Sender | undefined;
  readonly stdio: StdioCommand | undefined;
  /** Seconds that the target's clock was moved on. */
  advanced: number;
  close(): Promise<void>;
}

export interface Asked {
  /** A target file, or the address of a server. */
  readonly target?: string;
  readonly stdio?: string;
  readonly module?: string;
  readonly seconds?: number;
  readonly jobs?: number;
}

/** Nothing to talk to: enough for the vectors of `self/`. */
export function noTarget(): Target {
  return toTarget(
    { name: "none", base: "http://self.example", features: ["http"] },
    undefined,
    () => Promise.resolve(),
  );
}

/** Finds and starts what was asked for. @throws {Error} that says what to do */
export async function openTarget(asked: Asked): Promise<Target> {
  const { description, folder } = readDescription(asked);
  const limits = {
    ...description.limits,
    ...(asked.seconds !== undefined && { seconds: asked.seconds }),
    ...(asked.jobs !== undefined && { jobs: asked.jobs }),
  };
  const whole = { ...description, limits };
  if (whole.module) return await openModule(whole, resolve(folder, whole.module));
  if (whole.stdio) {
    return toTarget({ ...whole, stdio: within(whole.stdio, folder) }, undefined, () => Promise.resolve());
  }
  if (!whole.base) {
    throw new TypeError(
      'Cannot open the target: it must have "base", "stdio" or "module" (see FORMAT.md, section 9)',
    );
  }
  const child = whole.start ? startServer(within(whole.start, folder)) : undefined;
  const sender = httpSender();
  const close = async () => {
    await sender.close();
    await stopServer(child);
  };
  try {
    if (whole.start) await untilReady(sender, new URL(whole.start.ready ?? "/", whole.base).href);
    return toTarget(await discover(whole, sender), sender, close);
  } catch (error) {
    await close();
    throw error;
  }
}

function readDescription(
  { target, stdio, module }: Asked,
): { description: TargetDescription; folder: string } {
  if (stdio !== undefined) {
    const command = stdio.split(/\s+/).filter((part) => part !== "");
    return {
      description: { name: stdio, stdio: { command }, ...fileOf(target)?.description },
      folder: process.cwd(),
    };
  }
  if (module !== undefined) {
    // What stands in a file of the same name beside it need not be said again.
    const beside = module.replace(/\.[a-z]+$/, ".json");
    const found = fileOf(target ?? (existsSync(beside) ? beside : undefined));
    return {
      description: { name: module, ...found?.description, module: resolve(module) },
      folder: process.cwd(),
    };
  }
  if (target === undefined) {
    throw new TypeError("Cannot run: name a target by --target file|URL, --stdio command or --module file");
  }
  if (/^https?:\/\//.test(target)) {
    const oauth = "/.well-known/oauth-authorization-server";
    return { description: { name: target, base: target, discover: oauth }, folder: process.cwd() };
  }
  return fileOf(target)!;
}

function fileOf(path: string | undefined): { description: TargetDescription; folder: string } | undefined {
  if (path === undefined) return undefined;
  let description: unknown;
  try {
    description = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new TypeError(`Cannot read the target "${path}": ${(error as Error).message}`, { cause: error });
  }
  if (!isMembers(description)) throw new TypeError(`Cannot read the target "${path}": it must be an object`);
  return { description: description as TargetDescription, folder: dirname(resolve(path)) };
}

async function openModule(description: TargetDescription, path: string): Promise<Target> {
  const loaded = await import(pathToFileURL(path).href) as Record<string, unknown>;
  const own = typeof loaded["start"] === "function"
    ? await (loaded["start"] as () => Promise<ModuleTarget>)()
    : (isMembers(loaded["default"]) ? loaded["default"] : loaded) as ModuleTarget;
  const fetch = own.fetch ?? loaded["default"];
  if (typeof fetch !== "function") {
    throw new TypeError(
      `Cannot open "${path}": it must export "fetch", a default with "fetch", or "start()"`,
    );
  }
  const sender = moduleSender((request) => (fetch as FetchHandler).call(own, request));
  const whole = {
    ...description,
    ...own,
    base: own.base ?? description.base ?? "http://localhost",
    features: [...description.features ?? [], ...own.features ?? []],
    vars: { ...description.vars, ...own.vars },
    procedures: { ...description.procedures, ...own.procedures },
    limits: { ...own.limits, ...description.limits },
  };
  return toTarget(await discover(whole, sender), sender, async () => await own.close?.());
}

/** Endpoints and metadata by RFC 8414, where a path is given and answers. What is given by hand wins. */
async function discover(description: TargetDescription, sender: Sender): Promise<TargetDescription> {
  if (description.discover === undefined) return description;
  const url = new URL(description.discover, description.base).href;
  const outgoing = {
    method: "GET",
    url,
    fields: [],
    without: [],
    body: undefined,
    raw: false,
    wire: undefined,
  };
  const { body } = await exchange(sender, outgoing, limitsOf(description));
  const metadata = parseJson(toText(body));
  if (!isMembers(metadata)) return description;
  const found = Object.entries(metadata).flatMap(([name, value]) =>
    typeof value !== "string"
      ? []
      : name === "jwks_uri"
      ? [["jwks", value]]
      : name.endsWith("_endpoint")
      ? [[name.slice(0, -"_endpoint".length), value]]
      : []
  );
  const endpoints = { ...Object.fromEntries(found), ...description.endpoints };
  return { ...description, endpoints, vars: { metadata, ...description.vars } };
}

function limitsOf({ limits = {} }: TargetDescription): Limits {
  return { seconds: limits.seconds ?? 10, bytes: limits.bytes ?? 16 << 20 };
}

function toTarget(
  description: TargetDescription,
  sender: Sender | undefined,
  close: () => Promise<void>,
): Target {
  const { base = "http://stdio.example", procedures = {}, stdio, endpoints = {} } = description;
  const features = new Set(description.features ?? []);
  if (stdio) features.add("stdio");
  else features.add("http");
  if (sender && !description.module) features.add("raw");
  for (const name of Object.keys(procedures)) features.add(`procedure:${name}`);
  if ("advance" in procedures) features.add("clock");
  const origins = [
    base,
    ...description.origins ?? [],
    ...(description.module ? Object.values(endpoints) : []),
  ];
  return {
    name: description.name ?? base,
    version: description.version,
    base,
    origins: new Set(origins.flatMap((each) => URL.parse(each, base)?.origin ?? [])),
    features,
    variables: { base, endpoints, ...description.vars },
    procedures: new Map(Object.entries(procedures)),
    sendHeaders: description.send_headers ?? {},
    limits: limitsOf(description),
    jobs: description.limits?.jobs ?? 4,
    deviations: description.deviations ?? {},
    sender,
    stdio,
    advanced: 0,
    close,
  };
}

function within<C extends StdioCommand>(command: C, folder: string): C {
  return { ...command, cwd: join(folder, command.cwd ?? ".") };
}

function startServer({ command: [program = "", ...args], env, cwd }: StdioCommand): ChildProcess {
  const child = spawn(program, args, {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, ...env },
    ...(cwd && { cwd }),
  });
  child.on("error", (error) => process.stderr.write(`Cannot start "${program}": ${error.message}\n`));
  return child;
}

async function stopServer(child: ChildProcess | undefined): Promise<void> {
  if (!child || child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  const late = setTimeout(() => child.kill("SIGKILL"), 3000);
  await gone;
  clearTimeout(late);
}

const START_SECONDS = 30;

async function untilReady(sender: Sender, url: string): Promise<void> {
  const outgoing = {
    method: "GET",
    url,
    fields: [],
    without: [],
    body: undefined,
    raw: false,
    wire: undefined,
  };
  const end = performance.now() + START_SECONDS * 1000;
  while (true) {
    try {
      await exchange(sender, outgoing, { seconds: 2, bytes: 16 << 20 });
      return;
    } catch (error) {
      if (performance.now() > end) {
        throw new Error(`Cannot open the target: nothing answered at ${url} within ${START_SECONDS} s`, {
          cause: error,
        });
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
