/**
 * Reads files of vectors and of requirements, and refuses those that are not what `FORMAT.md` says.
 *
 * @module
 */
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type Strength, strongest } from "../outcome.ts";
import {
  isMembers,
  type Requirement,
  type RequirementFile,
  type Vector,
  type VectorFile,
} from "./vector_file.ts";

/** A vector with what its file and its rows say of it. */
export interface Loaded {
  /** Folder and id: `oauth/pkce/verifier-is-challenge`. */
  readonly name: string;
  readonly vector: Vector;
  readonly file: VectorFile;
  readonly strength: Strength;
}

export interface Row extends Requirement {
  readonly document: string;
  /** To the section. */
  readonly link: string;
}

export interface Requirements {
  readonly documents: ReadonlyMap<string, RequirementFile>;
  readonly rows: ReadonlyMap<string, Row>;
}

/** The vectors or requirements cannot be used. */
export class LoadError extends Error {
  override readonly name = "LoadError";
}

/** @param root of the kit @throws {LoadError} */
export function loadRequirements(root: string): Requirements {
  const documents = new Map<string, RequirementFile>();
  const rows = new Map<string, Row>();
  for (const path of globSync(join(root, "requirements/*.json")).sort()) {
    const file = readJson(path) as RequirementFile;
    if (!isMembers(file) || typeof file.document !== "string" || !Array.isArray(file.rows)) {
      throw new LoadError(`Cannot use ${path}: it must have "document" and "rows"`);
    }
    documents.set(file.document, file);
    for (const row of file.rows) {
      if (rows.has(row.id)) throw new LoadError(`Cannot use ${path}: "${row.id}" is there twice`);
      const section = /#(.*)\//.exec(row.id)?.[1] ?? "";
      rows.set(row.id, { ...row, document: file.document, link: file.url.replaceAll("{section}", section) });
    }
  }
  return { documents, rows };
}

/**
 * @param suites folders of `vectors/`, files of them (`oauth/pkce`), or paths of files
 * @throws {LoadError}
 */
export function loadVectors(root: string, suites: readonly string[], { rows }: Requirements): Loaded[] {
  const all: Loaded[] = [];
  const seen = new Set<string>();
  for (const path of suites.flatMap((suite) => pathsOf(root, suite))) {
    const file = checkFile(path, readJson(path));
    for (const vector of file.vectors) {
      const name = `${file.suite.split("/")[0]}/${vector.id}`;
      const refuse = (why: string): never => {
        throw new LoadError(`Cannot use "${name}" in ${path}: ${why}`);
      };
      if (seen.has(name)) refuse("there is another of this id");
      seen.add(name);
      if (!vector.id?.startsWith(`${basename(path, ".json")}/`)) {
        refuse("an id must begin with the file's name and /");
      }
      if (!Array.isArray(vector.covers) || vector.covers.length === 0) {
        refuse('it must name what it "covers"');
      }
      if (!Array.isArray(vector.steps) || vector.steps.length === 0) refuse('it must have "steps"');
      const covered = vector.covers.map((id) =>
        rows.get(id) ?? refuse(`"${id}" is no row of the requirements`)
      );
      all.push({ name, vector, file, strength: strongest(covered) });
    }
  }
  return all;
}

function pathsOf(root: string, suite: string): string[] {
  const paths = suite.endsWith(".json")
    ? [suite]
    : suite.includes("/")
    ? globSync(join(root, "vectors", `${suite}.json`))
    : globSync(join(root, "vectors", suite === "all" ? "{oauth,jsonrpc,mcp,skills}" : suite, "*.json"));
  if (paths.length === 0 && suite !== "all") {
    throw new LoadError(`Cannot run "${suite}": there are no vectors of this name`);
  }
  return paths.sort();
}

function checkFile(path: string, file: unknown): VectorFile {
  const refuse = (why: string): never => {
    throw new LoadError(`Cannot use ${path}: ${why}`);
  };
  if (!isMembers(file)) return refuse("it must be an object");
  if (file["format"] !== 1) {
    refuse(`this runner knows format 1, but it has ${JSON.stringify(file["format"])}`);
  }
  const { suite, vectors, count } = file as unknown as VectorFile;
  if (!Array.isArray(vectors)) refuse('it must have a list of "vectors"');
  if (vectors.length !== count) refuse(`"count" says ${count}, but it has ${vectors.length} vectors`);
  if (typeof suite !== "string" || suite.split("/")[1] !== basename(path, ".json")) {
    refuse(`"suite" must be the folder and "/${basename(path, ".json")}"`);
  }
  return file as unknown as VectorFile;
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new LoadError(`Cannot read ${path}: ${(error as Error).message}`, { cause: error });
  }
}
