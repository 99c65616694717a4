/**
 * What a target file says, and which description a command line means (`FORMAT.md` section 9).
 *
 * @module
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import process from "node:process";
import type { Program } from "./execute.ts";
import { type JsonFile, readJsonFile } from "../vector/json_file.ts";
import { checkSchema, type Wrong } from "../vector/schema_check.ts";
import type { TargetDescription } from "./target_description.ts";
import { isMembers, type Members } from "../vector/vector_file.ts";
import { pointTo } from "../vector/view.ts";

export interface Asked {
  /** A target file, or the address of a server. */
  readonly target?: string;
  readonly stdio?: string;
  readonly module?: string;
  readonly seconds?: number;
  readonly jobs?: number;
  /** Folders of the vectors that shall be asked. */
  readonly kinds?: ReadonlySet<string>;
}

/** The description, and the folder that its paths start from. @throws {TypeError} that says what to do */
export function readDescription(
  { target, stdio, module, kinds = new Set() }: Asked,
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
    if (!URL.canParse(target)) throw new TypeError(`Cannot use the target "${target}": it is no address`);
    return {
      description: { name: target, base: target, endpoints: endpointsOf(target, kinds) },
      folder: process.cwd(),
    };
  }
  return fileOf(target)!;
}

/** An address alone is the endpoint of what is asked. */
function endpointsOf(address: string, kinds: ReadonlySet<string>): Readonly<Record<string, string>> {
  const url = address.replace(/\/$/, "");
  const hasPath = new URL(address).pathname !== "/";
  return {
    ...(kinds.has("jsonrpc") && { rpc: address }),
    ...(kinds.has("mcp") && { mcp: address }),
    ...(kinds.has("skills") && { skills: hasPath ? url : `${url}/v1/skills` }),
  };
}

function fileOf(
  path: string | undefined,
  children: readonly string[] = [],
): { description: TargetDescription; folder: string } | undefined {
  if (path === undefined) return undefined;
  if (children.includes(resolve(path))) {
    throw new TypeError(`Cannot use the target "${path}": it extends itself`);
  }
  const folder = dirname(resolve(path));
  const own = withFolder(readTarget(path), folder);
  if (own.extends === undefined) return { description: own, folder };
  const parent = fileOf(resolve(folder, own.extends), [...children, resolve(path)])!.description;
  // How the parent is reached is not how this one is.
  const { module: _, start: __, stdio: ___, base: ____, ...kept } = parent;
  const reach = own.module ?? own.start ?? own.stdio ?? own.base;
  const description = {
    ...(reach === undefined ? parent : kept),
    ...own,
    endpoints: { ...parent.endpoints, ...own.endpoints },
    vars: { ...parent.vars, ...own.vars },
    procedures: { ...parent.procedures, ...own.procedures },
    deviations: { ...parent.deviations, ...own.deviations },
  };
  return { description, folder };
}

/** Programs are found from the file that names them. */
function withFolder(description: TargetDescription, folder: string): TargetDescription {
  if (description.procedures === undefined) return description;
  const procedures = Object.entries(description.procedures).map(([name, procedure]) => [
    name,
    isMembers(procedure) && "exec" in procedure
      ? { ...procedure, cwd: resolve(folder, (procedure as Program).cwd ?? ".") }
      : procedure,
  ]);
  return { ...description, procedures: Object.fromEntries(procedures) };
}

/** @throws {TypeError} with the place of the first mistake */
function readTarget(path: string): TargetDescription {
  const refuse = (why: string, cause?: unknown): never => {
    throw new TypeError(`Cannot use the target "${path}": ${why}`, { cause });
  };
  let file: JsonFile | undefined;
  try {
    file = readJsonFile(readFileSync(path, "utf8"));
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    refuse(
      code === "ENOENT"
        ? `there is no such file${/^[\w.-]+:\d+/.test(path) ? " (an address begins with http://)" : ""}`
        : code === "EISDIR"
        ? "it is a folder"
        : message,
      error,
    );
  }
  const { value, lineOf } = file!;
  const wrong = checkSchema(schemaOf("target.schema.json"), value, schemaOf) ?? addressesOf(value as Members);
  if (wrong) {
    const place = wrong.path.map((step) => typeof step === "number" ? `[${step}]` : `.${step}`).join("")
      .slice(1);
    refuse(`line ${lineOf(wrong.path)}: ${place === "" ? "it" : `"${place}"`} ${wrong.why}`);
  }
  const { clients, users, scope, ...rest } = value as TargetDescription;
  const said = {
    ...(clients && { clients }),
    ...(users && { users }),
    ...(scope !== undefined && { scope }),
  };
  return { name: rest.base ?? path, ...rest, vars: { ...said, ...rest.vars } };
}

/** Addresses that are none. */
function addressesOf({ base, origins = [] }: Members): Wrong | undefined {
  const all = [
    [["base"], base ?? "http://x"] as const,
    ...(origins as string[]).map((each, at) => [["origins", at], each] as const),
  ];
  const found = all.find(([, address]) => !URL.canParse(String(address).replace("{{port}}", "80")));
  return found &&
    { path: found[0], why: `must be an address like http://127.0.0.1:8080, but is "${found[1]}"` };
}

const schemas = new Map<string, unknown>();

/** A schema of the kit, or a part of it: `vector.schema.json#/$defs/step`. */
function schemaOf(reference: string): unknown {
  const [name = "", pointer = ""] = reference.split("#");
  // A reference within a file is one to the vectors': the only schema with parts that the other refers to.
  const file = name === "" ? "vector.schema.json" : name;
  const schema = schemas.get(file) ??
    JSON.parse(readFileSync(new URL(`../../${file}`, import.meta.url), "utf8"));
  schemas.set(file, schema);
  return pointTo(pointer, schema);
}
