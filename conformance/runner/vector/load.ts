/**
 * Loads vector files and requirement files, and rejects those that do not follow `FORMAT.md`.
 *
 * @module
 */
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { getStrongest, type Strength } from "../outcome.ts";
import { toPattern } from "./expect.ts";
import { expandFragments } from "./fragments.ts";
import { governs } from "../verdict/about.ts";
import {
  isJsonObject,
  type Requirement,
  type RequirementFile,
  type Step,
  type Vector,
  type VectorFile,
} from "./vector_file.ts";

/** A vector with its file and its strength. */
export interface LoadedVector {
  /** Folder and id: `oauth/pkce/verifier-is-challenge`. */
  readonly name: string;
  readonly vector: Vector;
  readonly file: VectorFile;
  /** The rows that the vector covers, by itself and by its file. */
  readonly rows: readonly Row[];
  readonly strength: Strength;
}

export interface Row extends Requirement {
  readonly document: string;
  /** URL of the section. */
  readonly link: string;
}

export interface Requirements {
  readonly documents: ReadonlyMap<string, RequirementFile>;
  readonly rows: ReadonlyMap<string, Row>;
}

/** A file of vectors, requirements or expected failures is invalid. */
export class LoadError extends Error {
  override readonly name = "LoadError";
}

/** @param root of the kit @throws {LoadError} */
export function loadRequirements(root: string): Requirements {
  const documents = new Map<string, RequirementFile>();
  const rows = new Map<string, Row>();
  for (const path of globSync(join(root, "requirements/*.json")).sort()) {
    const file = readJson(path) as RequirementFile;
    if (!isJsonObject(file) || typeof file.document !== "string" || !Array.isArray(file.rows)) {
      throw new LoadError(`Invalid requirements in ${path}: "document" and "rows" are required`);
    }
    documents.set(file.document, file);
    for (const row of file.rows) {
      if (rows.has(row.id)) throw new LoadError(`Invalid requirements in ${path}: duplicate row "${row.id}"`);
      const link = findLink(file, row.id.slice(row.id.indexOf("#") + 1));
      rows.set(row.id, { ...row, document: file.document, link });
    }
  }
  return { documents, rows };
}

/** URL of the section of a row, by `lifecycle/2` or `lifecycle` in `sections`, otherwise by the template in `url`. */
function findLink({ url, sections }: RequirementFile, place: string): string {
  const [section = ""] = place.split("/");
  return sections?.[place] ?? sections?.[section] ?? url.replaceAll("{section}", section);
}

/**
 * @param suites folders of `vectors/`, files of them (`oauth/pkce`), or paths of files
 * @throws {LoadError}
 */
export function loadVectors(root: string, suites: readonly string[], { rows }: Requirements): LoadedVector[] {
  const all: LoadedVector[] = [];
  const seen = new Set<string>();
  // A suite may be named twice, or with one of its files.
  for (const path of new Set(suites.flatMap((suite) => findPaths(root, suite)))) {
    const file = checkFile(path, readJson(path));
    for (const vector of file.vectors) {
      const name = `${file.suite.split("/")[0]}/${vector.id}`;
      const refuse = (why: string): never => {
        throw new LoadError(`Invalid vector "${name}" in ${path}: ${why}`);
      };
      if (seen.has(name)) refuse("duplicate id");
      seen.add(name);
      if (!vector.id?.startsWith(`${basename(path, ".json")}/`)) {
        refuse(`the id must begin with "${basename(path, ".json")}/"`);
      }
      if (!Array.isArray(vector.covers) || vector.covers.length === 0) {
        refuse('"covers" must name at least one requirement row');
      }
      if (!Array.isArray(vector.steps) || vector.steps.length === 0) refuse('"steps" must not be empty');
      const getRow = (id: string): Row => rows.get(id) ?? refuse(`"${id}" is not a requirement row`);
      const own = vector.covers.map(getRow);
      for (const { covers = [] } of vector.steps) {
        const foreign = covers.find((id) => !vector.covers.includes(id) && !file.covers?.includes(id));
        if (foreign !== undefined) refuse(`a step covers "${foreign}", but the vector does not`);
      }
      const ofFile = (file.covers ?? []).map(getRow).filter((row) =>
        !own.includes(row) && vector.steps.some((step) => asserts(step, row))
      );
      const covered = [...own, ...ofFile];
      all.push({ name, vector, file, rows: covered, strength: getStrongest(covered) });
    }
  }
  return all;
}

/** Whether a row about form governs an assertion of a step. */
export function asserts({ expect }: Step, { about = [] }: Requirement): boolean {
  return expect !== undefined &&
    about.some((each) => governs(each, { path: "", pattern: toPattern(expect) }));
}

function findPaths(root: string, suite: string): string[] {
  const paths = suite.endsWith(".json")
    ? [suite]
    : suite.includes("/")
    ? globSync(join(root, "vectors", `${suite}.json`))
    : globSync(join(root, "vectors", suite === "all" ? "{oauth,jsonrpc,mcp,skills}" : suite, "*.json"));
  if (paths.length === 0 && suite !== "all") {
    throw new LoadError(
      `Unknown suite "${suite}". Use a suite, one of its files (oauth/pkce), or the path of a .json file.`,
    );
  }
  return paths.sort();
}

function checkFile(path: string, file: unknown): VectorFile {
  const refuse = (why: string): never => {
    throw new LoadError(`Invalid vector file ${path}: ${why}`);
  };
  if (!isJsonObject(file)) return refuse("must be a JSON object");
  if (file["format"] !== 2) {
    refuse(`unsupported format ${JSON.stringify(file["format"])}; this runner supports 2`);
  }
  const { suite, vectors, count } = file as unknown as VectorFile;
  if (!Array.isArray(vectors)) refuse('"vectors" must be an array');
  if (vectors.length !== count) refuse(`"count" is ${count}, but the number of vectors is ${vectors.length}`);
  if (typeof suite !== "string" || suite.split("/")[1] !== basename(path, ".json")) {
    refuse(`"suite" must be the folder name and "/${basename(path, ".json")}"`);
  }
  try {
    return expandFragments(file) as unknown as VectorFile;
  } catch (error) {
    return refuse((error as Error).message);
  }
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new LoadError(`Cannot read ${path}: ${(error as Error).message}`, { cause: error });
  }
}
