/**
 * Reads target files, and finds the description of the target that the command line names (`FORMAT.md`
 * section 9).
 *
 * @module
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import process from "node:process";
import type { Program } from "./execute.ts";
import { type JsonFile, parseJsonFile } from "../vector/json_file.ts";
import { findSchemaProblem, type SchemaProblem } from "../vector/schema_check.ts";
import type { TargetDescription } from "./target_description.ts";
import { isJsonObject, type JsonObject } from "../vector/vector_file.ts";
import { resolvePointer } from "../vector/view.ts";

export interface TargetArguments {
  /** A target file, or the address of a server. */
  readonly target?: string;
  readonly stdio?: string;
  readonly module?: string;
  readonly seconds?: number;
  readonly jobs?: number;
  /** Folders of the selected vectors, such as `oauth`. */
  readonly suiteFolders?: ReadonlySet<string>;
}

/** The description of the target, and the folder to which its paths are relative. @throws {TypeError} if it is invalid */
export function readDescription(
  { target, stdio, module, suiteFolders = new Set() }: TargetArguments,
): { description: TargetDescription; folder: string } {
  if (stdio !== undefined) {
    const command = splitCommand(stdio);
    return {
      description: { name: stdio, stdio: { command }, ...readTargetFile(target)?.description },
      folder: process.cwd(),
    };
  }
  if (module !== undefined) {
    // A target file of the same name beside the module describes the rest.
    const beside = module.replace(/\.[a-z]+$/, ".json");
    const found = readTargetFile(target ?? (existsSync(beside) ? beside : undefined));
    return {
      description: { name: module, ...found?.description, module: resolve(module) },
      folder: process.cwd(),
    };
  }
  if (target === undefined) {
    throw new TypeError("No target given. Add a URL, --target FILE, --stdio COMMAND or --module FILE.");
  }
  if (/^https?:\/\//.test(target)) {
    if (!URL.canParse(target)) throw new TypeError(`Invalid target URL "${target}"`);
    return {
      description: { name: target, base: target, endpoints: guessEndpoints(target, suiteFolders) },
      folder: process.cwd(),
    };
  }
  return readTargetFile(target)!;
}

/** Splits a command at blanks that are not between quotes, without any other rule of a shell. @throws {TypeError} */
function splitCommand(text: string): string[] {
  const parts = text.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? [];
  if (/["']/.test(text.replace(/"[^"]*"|'[^']*'/g, ""))) {
    throw new TypeError(`Invalid --stdio ${text}: a quote has no end`);
  }
  return parts.map((part) => part.replace(/"([^"]*)"|'([^']*)'/g, (_, one = "", other = "") => one + other));
}

/** The endpoints of a target that is given as a URL alone. */
function guessEndpoints(
  address: string,
  suiteFolders: ReadonlySet<string>,
): Readonly<Record<string, string>> {
  const url = address.replace(/\/$/, "");
  const hasPath = new URL(address).pathname !== "/";
  return {
    ...(suiteFolders.has("jsonrpc") && { rpc: address }),
    ...(suiteFolders.has("mcp") && { mcp: address }),
    ...(suiteFolders.has("skills") && { skills: hasPath ? url : `${url}/v1/skills` }),
  };
}

function readTargetFile(
  path: string | undefined,
  children: readonly string[] = [],
): { description: TargetDescription; folder: string } | undefined {
  if (path === undefined) return undefined;
  if (children.includes(resolve(path))) {
    throw new TypeError(`Invalid target file "${path}": "extends" leads back to this file`);
  }
  const folder = dirname(resolve(path));
  const ownDescription = withProgramFolders(parseTargetFile(path), folder);
  if (ownDescription.extends === undefined) return { description: ownDescription, folder };
  const parent =
    readTargetFile(resolve(folder, ownDescription.extends), [...children, resolve(path)])!.description;
  // A file that says how its server is reached replaces that of its parent.
  const { module: _, start: __, stdio: ___, base: ____, ...inherited } = parent;
  const ownTransport = ownDescription.module ?? ownDescription.start ?? ownDescription.stdio ??
    ownDescription.base;
  const description = {
    ...(ownTransport === undefined ? parent : inherited),
    ...ownDescription,
    endpoints: { ...parent.endpoints, ...ownDescription.endpoints },
    vars: { ...parent.vars, ...ownDescription.vars },
    procedures: { ...parent.procedures, ...ownDescription.procedures },
    deviations: { ...parent.deviations, ...ownDescription.deviations },
  };
  return { description, folder };
}

/** Makes the folders of programs relative to the file that names them. */
function withProgramFolders(description: TargetDescription, folder: string): TargetDescription {
  if (description.procedures === undefined) return description;
  const procedures = Object.entries(description.procedures).map(([name, procedure]) => [
    name,
    isJsonObject(procedure) && "exec" in procedure
      ? { ...procedure, cwd: resolve(folder, (procedure as Program).cwd ?? ".") }
      : procedure,
  ]);
  return { ...description, procedures: Object.fromEntries(procedures) };
}

/** @throws {TypeError} with the line of the first problem */
function parseTargetFile(path: string): TargetDescription {
  const refuse = (why: string, cause?: unknown): never => {
    throw new TypeError(`Invalid target file "${path}": ${why}`, { cause });
  };
  let file: JsonFile | undefined;
  try {
    file = parseJsonFile(readFileSync(path, "utf8"));
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    refuse(
      code === "ENOENT"
        ? `file not found${/^[\w.-]+:\d+/.test(path) ? ". A URL must begin with http:// or https://" : ""}`
        : code === "EISDIR"
        ? "this is a folder"
        : message,
      error,
    );
  }
  const { value, lineOf } = file!;
  const wrong = findSchemaProblem(getSchema("target.schema.json"), value, getSchema) ??
    findInvalidUrl(value as JsonObject);
  if (wrong) {
    const place = wrong.path.map((step) => typeof step === "number" ? `[${step}]` : `.${step}`).join("")
      .slice(1);
    refuse(`line ${lineOf(wrong.path)}: ${place === "" ? "the file" : `"${place}"`} ${wrong.why}`);
  }
  const { clients, users, scope, ...rest } = value as TargetDescription;
  const declared = {
    ...(clients && { clients }),
    ...(users && { users }),
    ...(scope !== undefined && { scope }),
  };
  return { name: rest.base ?? path, ...rest, vars: { ...declared, ...rest.vars } };
}

/** The first invalid URL of a description. */
function findInvalidUrl({ base, origins = [] }: JsonObject): SchemaProblem | undefined {
  const all = [
    [["base"], base ?? "http://x"] as const,
    ...(origins as string[]).map((each, at) => [["origins", at], each] as const),
  ];
  const found = all.find(([, address]) => !URL.canParse(String(address).replace("{{port}}", "80")));
  return found &&
    { path: found[0], why: `must be a URL such as http://127.0.0.1:8080, not "${found[1]}"` };
}

const schemas = new Map<string, unknown>();

/** A schema of the kit, or a part of it: `vector.schema.json#/$defs/step`. */
function getSchema(reference: string): unknown {
  const [name = "", pointer = ""] = reference.split("#");
  // A reference without a file name is within the vector schema, the only one with shared parts.
  const file = name === "" ? "vector.schema.json" : name;
  const schema = schemas.get(file) ??
    JSON.parse(readFileSync(new URL(`../../${file}`, import.meta.url), "utf8"));
  schemas.set(file, schema);
  return resolvePointer(pointer, schema);
}
