/**
 * Opens the server under test: from a target file, a URL, a command or a module to something that vectors can talk to
 * (`FORMAT.md` section 9).
 *
 * @module
 */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { discover } from "./discover.ts";
import { type Sender, within } from "../exchange/exchange.ts";
import { fillPort } from "./free_port.ts";
import { probe } from "./probe.ts";
import { httpSender } from "../exchange/send_http.ts";
import { type FetchHandler, moduleSender } from "../exchange/send_module.ts";
import { inFolder, ServerProcess } from "./server_process.ts";
import { limitsOf, type Target, toTarget } from "./target.ts";
import type { ModuleTarget, TargetDescription } from "./target_description.ts";
import { type Asked, readDescription } from "./target_file.ts";
import { isMembers } from "../vector/vector_file.ts";

/** Finds and starts what was asked for. @throws {Error} that says what to do */
export async function openTarget(asked: Asked): Promise<Target> {
  const { description: written, folder } = readDescription(asked);
  const description = await fillPort(written);
  const limits = {
    ...description.limits,
    ...(asked.seconds !== undefined && { seconds: asked.seconds }),
    ...(asked.jobs !== undefined && { jobs: asked.jobs }),
  };
  const whole = { ...description, limits };
  if (whole.module) return await openModule(whole, resolve(folder, whole.module), asked.kinds);
  if (whole.stdio) {
    const stdio = inFolder(whole.stdio, folder);
    return await look({ ...whole, stdio }, undefined, () => Promise.resolve(), asked.kinds);
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
    return await look(whole, sender, close, asked.kinds);
  } catch (error) {
    await close();
    throw error;
  }
}

const MODULE_SECONDS = 30;

async function openModule(
  description: TargetDescription,
  path: string,
  kinds: ReadonlySet<string> | undefined,
): Promise<Target> {
  const own = await within(loadModule(path), MODULE_SECONDS, `The module "${path}"`);
  const sender = moduleSender((request) => own.fetch!.call(own, request));
  const features = description.features ?? own.features;
  const whole = {
    ...description,
    ...own,
    base: own.base ?? description.base ?? "http://localhost",
    ...(features && { features: [...description.features ?? [], ...own.features ?? []] }),
    vars: { ...description.vars, ...own.vars },
    procedures: { ...description.procedures, ...own.procedures },
    limits: { ...own.limits, ...description.limits },
  };
  return await look(whole, sender, async () => await own.close?.(), kinds);
}

async function loadModule(path: string): Promise<ModuleTarget> {
  let loaded: Record<string, unknown>;
  try {
    loaded = await import(pathToFileURL(path).href) as Record<string, unknown>;
  } catch (error) {
    throw new Error(`Cannot load "${path}": ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  }
  const own = typeof loaded["start"] === "function"
    ? await (loaded["start"] as () => Promise<ModuleTarget>)()
    : (isMembers(loaded["default"]) ? loaded["default"] : loaded) as ModuleTarget;
  const fetch = own?.fetch ?? loaded["default"];
  if (typeof fetch !== "function") {
    throw new TypeError(
      `Cannot open "${path}": it must export "fetch", a default with "fetch", or "start()"`,
    );
  }
  if (own.fetch === fetch) return own;
  return { ...own, fetch: fetch as FetchHandler };
}

/** Asks the target what it is, as far as its description does not say it. */
async function look(
  asked: TargetDescription,
  sender: Sender | undefined,
  close: () => Promise<void>,
  kinds: ReadonlySet<string> = new Set(),
): Promise<Target> {
  const { description, discovered, why } = sender
    ? await discover(asked, sender, limitsOf(asked), kinds.has("oauth"))
    : { description: asked, why: undefined };
  const target = { ...toTarget(description, sender, close), ...(discovered !== undefined && { discovered }) };
  if (description.features !== undefined) return target;
  const { features, vars, procedures, notes } = await probe(target, kinds, why);
  const shows = features.includes("mcp") && description.base !== undefined;
  const whole = {
    ...description,
    features,
    // Where it showed that it speaks MCP, it is asked.
    endpoints: { ...(shows && { mcp: description.base! }), ...description.endpoints },
    vars: { ...vars, ...description.vars },
    procedures: { ...procedures, ...description.procedures },
  };
  return { ...target, ...toTarget(whole, sender, close), notes };
}
