/**
 * The server under test: from a target file, a URL, a command or a module to something that vectors can talk to
 * (`FORMAT.md` section 9).
 *
 * @module
 */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { toText } from "./bytes.ts";
import { exchange, type Limits, type Sender } from "./exchange.ts";
import { parseJson } from "./match.ts";
import { httpSender } from "./send_http.ts";
import { type FetchHandler, moduleSender } from "./send_module.ts";
import type { StdioCommand } from "./send_stdio.ts";
import { inFolder, ServerProcess } from "./server_process.ts";
import {
  type Asked,
  type ModuleTarget,
  type Procedure,
  readDescription,
  type TargetDescription,
} from "./target_file.ts";
import { isMembers, type Members } from "./vector_file.ts";

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
    return toTarget({ ...whole, stdio: inFolder(whole.stdio, folder) }, undefined, () => Promise.resolve());
  }
  if (!whole.base) {
    throw new TypeError(
      'Cannot open the target: it must have "base", "stdio" or "module" (see FORMAT.md, section 9)',
    );
  }
  const server = whole.start && new ServerProcess(inFolder(whole.start, folder));
  const sender = httpSender();
  const close = async () => {
    await sender.close();
    await server?.stop();
  };
  try {
    await server?.untilReady(sender, whole.base);
    return toTarget(await discover(whole, sender), sender, close);
  } catch (error) {
    await close();
    throw error;
  }
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
  const endpoints = { metadata: url, ...Object.fromEntries(found), ...description.endpoints };
  return { ...description, endpoints, vars: { metadata, ...description.vars } };
}

/** `{{base}}` in endpoints and variables; other templates there wait for a vector. */
function fillBase({ endpoints = {}, vars = {} }: TargetDescription, base: string): {
  readonly endpoints: Readonly<Record<string, string>>;
  readonly vars: Members;
} {
  const written = JSON.stringify(base.replace(/\/$/, "")).slice(1, -1);
  return JSON.parse(JSON.stringify({ endpoints, vars }).replaceAll("{{base}}", written));
}

function limitsOf({ limits = {} }: TargetDescription): Limits {
  return { seconds: limits.seconds ?? 10, bytes: limits.bytes ?? 16 << 20 };
}

function toTarget(
  described: TargetDescription,
  sender: Sender | undefined,
  close: () => Promise<void>,
): Target {
  const { base = "http://stdio.example", procedures = {}, stdio } = described;
  const description = { ...described, ...fillBase(described, base) };
  const { endpoints } = description;
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
