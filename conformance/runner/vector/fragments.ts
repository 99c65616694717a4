/**
 * Fragments: parts of steps that several vectors of a file share (`FORMAT.md` section 1).
 *
 * @module
 */
import { isJsonObject, type JsonObject } from "./vector_file.ts";

/** A slot without a value: its member or item is left out. */
const OMITTED = Symbol("omitted");

interface Scope {
  readonly fragments: JsonObject;
  /** Values of the slots of the fragment; outside of fragments there are none. */
  readonly values?: JsonObject;
  /** Names of the fragments that are being expanded, to find circles. */
  readonly path: readonly string[];
}

/**
 * The file with its fragments in place of each `{ "$use": … }`.
 * @throws {Error} if a use names no fragment or slot, or fragments use each other in a circle
 */
export function expandFragments(file: JsonObject): JsonObject {
  const { fragments, before, vectors } = file;
  if (!isJsonObject(fragments)) return file;
  const scope = { fragments, path: [] };
  return {
    ...file,
    ...before !== undefined && { before: expand(before, scope) },
    ...Array.isArray(vectors) && {
      vectors: vectors.map((vector) =>
        isJsonObject(vector) ? { ...vector, steps: expand(vector["steps"], scope) } : vector
      ),
    },
  };
}

function expand(value: unknown, scope: Scope): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => expand(item, scope)).filter((item) => item !== OMITTED);
  }
  if (!isJsonObject(value)) return value;
  if (typeof value["$use"] === "string") return useFragment(value["$use"], value, scope);
  if (scope.values !== undefined && typeof value["$slot"] === "string") return fillSlot(value, scope);
  return expandMembers(Object.entries(value), scope);
}

function expandMembers(members: readonly (readonly [string, unknown])[], scope: Scope): JsonObject {
  const all = members.map(([name, each]) => [name, expand(each, scope)] as const);
  return Object.fromEntries(all.filter(([, each]) => each !== OMITTED));
}

function fillSlot(slot: JsonObject, scope: Scope): unknown {
  const name = String(slot["$slot"]);
  if (Object.hasOwn(scope.values!, name)) return scope.values![name];
  return "else" in slot ? expand(slot["else"], scope) : OMITTED;
}

function useFragment(name: string, use: JsonObject, scope: Scope): unknown {
  if (!Object.hasOwn(scope.fragments, name)) throw new Error(`"${name}" is not a fragment of the file`);
  if (scope.path.includes(name)) throw new Error(`the fragment "${name}" uses itself`);
  const fragment = scope.fragments[name];
  const given = Object.entries(use).filter(([member]) => member !== "$use");
  const slots = findSlots(fragment);
  const unknown = given.find(([slot]) => !slots.includes(slot));
  if (unknown) throw new Error(`the fragment "${name}" has no slot "${unknown[0]}"`);
  const values = expandMembers(given, scope);
  return expand(fragment, { fragments: scope.fragments, values, path: [...scope.path, name] });
}

function findSlots(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(findSlots);
  if (!isJsonObject(value)) return [];
  const inside = Object.values(value).flatMap(findSlots);
  return typeof value["$slot"] === "string" ? [value["$slot"], ...inside] : inside;
}
