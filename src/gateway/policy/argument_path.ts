/**
 * The path of an argument in a policy, such as `arguments.files.*.path`, and the values at it.
 *
 * @module
 */
import { toLoose } from "./loose_text.ts";

/** The value at a path, or why there is none. */
export type Found =
  | { readonly value: unknown }
  | "missing"
  /** Programs differ in what they find there. */
  | "ambiguous";

/** Values at one path with `*`. */
export interface FoundValues {
  readonly found: readonly Found[];
  /** Whether the path has `*`: then it stands for all of them. */
  readonly isMany: boolean;
}

const MAX_SEGMENTS = 16;
/** Values that one condition looks at. */
const MAX_VALUES = 1000;
/** Members of one object that are searched for other spellings of a name. */
const MAX_MEMBERS = 10_000;

/**
 * The segments of a path after `arguments`; `undefined` for text that is no path. `\.` is a dot in a name, `\*` a star.
 */
export function parsePath(text: string): readonly PathSegment[] | undefined {
  const [root, ...names] = splitPath(text);
  if (root !== "arguments" || names.length === 0 || names.length > MAX_SEGMENTS || names.includes("")) {
    return undefined;
  }
  return names.map((text): PathSegment => {
    if (text === "*") return EVERY;
    const name = text.replace(/\\([.*\\])/g, "$1");
    return { name, loose: toLooseName(name) };
  });
}

/** A name, or every item of a list and every member of an object. */
export interface PathSegment {
  readonly name: string;
  readonly loose: string;
}

const EVERY: PathSegment = { name: "*", loose: "*" };

function splitPath(text: string): string[] {
  return text.match(/(?:\\.|[^.\\])+|(?<=\.|^)(?=\.|$)/gs) ?? [];
}

const MAX_KNOWN_NAMES = 5000;
/** Loose names: those of a tool repeat in every call. */
const known = new Map<string, string>();

/** Decoders exist that find `file_path` at `filePath`, `FILE-PATH` and `File Path`. */
function toLooseName(name: string): string {
  let loose = known.get(name);
  if (loose === undefined) {
    loose = toLoose(name).replace(/[-_\s.]/g, "");
    if (name.length <= 64) {
      if (known.size >= MAX_KNOWN_NAMES) known.clear();
      known.set(name, loose);
    }
  }
  return loose;
}

/** The values at the path. */
export function findValues(input: unknown, path: readonly PathSegment[]): FoundValues {
  let found: Found[] = [{ value: input }];
  let isMany = false;
  for (const segment of path) {
    const next: Found[] = [];
    for (const each of found) {
      if (typeof each === "string") next.push(each);
      else if (segment !== EVERY) next.push(findMember(each.value, segment));
      else if (typeof each.value !== "object" || each.value === null) next.push("ambiguous");
      else if (next.length + sizeOf(each.value) > MAX_VALUES) return { found: ["ambiguous"], isMany: true };
      else for (const value of Object.values(each.value)) next.push({ value });
    }
    isMany ||= segment === EVERY;
    found = next;
  }
  return { found, isMany };
}

function sizeOf(value: object): number {
  return Array.isArray(value) ? value.length : Object.keys(value).length;
}

function findMember(value: unknown, { name, loose }: PathSegment): Found {
  if (value === undefined) return "missing";
  if (typeof value !== "object" || value === null) return "ambiguous";
  if (Array.isArray(value)) {
    const isIndex = /^(?:0|[1-9]\d{0,8})$/.test(name);
    if (!isIndex) return "ambiguous";
    return Number(name) < value.length ? { value: value[Number(name)] } : "missing";
  }
  const names = Object.keys(value);
  if (names.length > MAX_MEMBERS) return "ambiguous";
  for (const other of names) {
    // A program that ignores case takes one of the two, and it is not known which.
    if (other !== name && toLooseName(other) === loose) return "ambiguous";
  }
  if (!Object.hasOwn(value, name)) return "missing";
  const member = (value as Record<string, unknown>)[name];
  return member === undefined ? "missing" : { value: member };
}
