/**
 * Opens the server under test from a target file, a URL, a command or a module (`FORMAT.md` section 9).
 *
 * @module
 */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { discover } from "./discover.ts";
import {
  BrokenExchange,
  type Limits,
  openWithTimeout,
  type Sender,
  withTimeout,
} from "../exchange/exchange.ts";
import { fillPort } from "./free_port.ts";
import { probe } from "./probe.ts";
import { httpSender } from "../exchange/send_http.ts";
import { type FetchHandler, moduleSender } from "../exchange/send_module.ts";
import { resolveCwd, ServerProcess } from "./server_process.ts";
import { getLimits, type Target, toTarget } from "./target.ts";
import type { ModuleTarget, TargetDescription } from "./target_description.ts";
import { readDescription, type TargetArguments } from "./target_file.ts";
import { isJsonObject } from "../vector/vector_file.ts";

/** Finds the target that the command line names, and starts it if needed. @throws {Error} with what to correct */
export async function openTarget(args: TargetArguments): Promise<Target> {
  const { description: written, folder } = readDescription(args);
  const description = await fillPort(written);
  const limits = {
    ...description.limits,
    ...(args.seconds !== undefined && { seconds: args.seconds }),
    ...(args.jobs !== undefined && { jobs: args.jobs }),
  };
  const limited = { ...description, limits };
  if (limited.module) return await openModule(limited, resolve(folder, limited.module), args.suiteFolders);
  if (limited.stdio) {
    const stdio = resolveCwd(limited.stdio, folder);
    return await probeTarget({ ...limited, stdio }, undefined, () => Promise.resolve(), args.suiteFolders);
  }
  if (!limited.base) {
    throw new TypeError(
      'Invalid target: it needs "base", "stdio" or "module" (FORMAT.md, section 9)',
    );
  }
  const server = limited.start && new ServerProcess(resolveCwd(limited.start, folder));
  const sender = httpSender();
  const close = async () => {
    await sender.close();
    await server?.stop();
  };
  try {
    await server?.waitUntilReady(sender, limited.base);
    return await probeTarget(limited, sender, close, args.suiteFolders);
  } catch (error) {
    await close();
    throw error;
  }
}

const MAX_MODULE_START_SECONDS = 30;

async function openModule(
  description: TargetDescription,
  path: string,
  suiteFolders: ReadonlySet<string> | undefined,
): Promise<Target> {
  const module = await withTimeout(
    loadModule(path),
    MAX_MODULE_START_SECONDS,
    `Loading the module "${path}"`,
  );
  const sender = moduleSender((request) => module.fetch!.call(module, request));
  const features = description.features ?? module.features;
  const merged = {
    ...description,
    ...module,
    base: module.base ?? description.base ?? "http://localhost",
    ...(features && { features: [...description.features ?? [], ...module.features ?? []] }),
    vars: { ...description.vars, ...module.vars },
    procedures: { ...description.procedures, ...module.procedures },
    limits: { ...module.limits, ...description.limits },
  };
  return await probeTarget(merged, sender, async () => await module.close?.(), suiteFolders);
}

async function loadModule(path: string): Promise<ModuleTarget> {
  let loaded: Record<string, unknown>;
  try {
    loaded = await import(pathToFileURL(path).href) as Record<string, unknown>;
  } catch (error) {
    throw new Error(`Cannot load the module "${path}": ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  }
  const module = typeof loaded["start"] === "function"
    ? await (loaded["start"] as () => Promise<ModuleTarget>)()
    : (isJsonObject(loaded["default"]) ? loaded["default"] : loaded) as ModuleTarget;
  const fetch = module?.fetch ?? loaded["default"];
  if (typeof fetch !== "function") {
    throw new TypeError(
      `Invalid module "${path}": it must export "fetch", a default object with "fetch", or "start()"`,
    );
  }
  if (module.fetch === fetch) return module;
  return { ...module, fetch: fetch as FetchHandler };
}

/** Completes a description by metadata, and by probing if it declares no features. */
async function probeTarget(
  declared: TargetDescription,
  sender: Sender | undefined,
  close: () => Promise<void>,
  suiteFolders: ReadonlySet<string> = new Set(),
): Promise<Target> {
  const { description, discovered, why } = sender
    ? await discover(declared, sender, getLimits(declared), suiteFolders.has("oauth"))
    : { description: declared, why: undefined };
  const target = { ...toTarget(description, sender, close), ...(discovered !== undefined && { discovered }) };
  if (description.features !== undefined) return target;
  const { features, vars, procedures, notes } = await probe(target, suiteFolders, why);
  const speaksMcp = features.includes("mcp") && description.base !== undefined;
  const completed = {
    ...description,
    features,
    // A target that completed a handshake has its MCP endpoint there.
    endpoints: { ...(speaksMcp && { mcp: description.base! }), ...description.endpoints },
    vars: { ...vars, ...description.vars },
    procedures: { ...procedures, ...description.procedures },
  };
  const refusal = sender && await findRefusal(sender, target.base, target.limits);
  return {
    ...target,
    ...toTarget(completed, sender, close),
    notes,
    ...(refusal !== undefined && { refusal }),
  };
}

/** Why no connection to the server can be opened, if none can. The response does not matter. */
async function findRefusal(sender: Sender, url: string, limits: Limits): Promise<string | undefined> {
  const request = {
    method: "GET",
    url,
    fields: [],
    without: [],
    body: undefined,
    raw: false,
    wire: undefined,
  };
  try {
    (await openWithTimeout(sender, request, limits)).cancel();
    return undefined;
  } catch (error) {
    return error instanceof BrokenExchange && error.kind === "refused" ? error.message : undefined;
  }
}
