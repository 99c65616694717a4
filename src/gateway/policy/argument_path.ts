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
/** Characters of the names that are searched at one path; of ASCII 16 count as one, which take as long. */
const MAX_NAME_CHARACTERS = 16_384;
/** Characters of all texts at one path with `*`. */
const MAX_CHARACTERS = 65_536;

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
  const left = { characters: MAX_NAME_CHARACTERS };
  for (const segment of path) {
    const next: Found[] = [];
    for (const each of found) {
      if (typeof each === "string") next.push(each);
      else if (segment !== EVERY) next.push(findMember(each.value, segment, left));
      else if (typeof each.value !== "object" || each.value === null) next.push("ambiguous");
      else if (next.length + sizeOf(each.value) > MAX_VALUES) return { found: ["ambiguous"], isMany: true };
      else for (const value of Object.values(each.value)) next.push({ value });
    }
    isMany ||= segment === EVERY;
    found = next;
  }
  // Each is compared by itself, so that many would take as long as one text of all of them.
  if (isMany && charactersOf(found) > MAX_CHARACTERS) return { found: ["ambiguous"], isMany };
  return { found, isMany };
}

function charactersOf(found: readonly Found[]): number {
  return found.reduce((sum, each) => {
    return typeof each === "object" && typeof each.value === "string" ? sum + each.value.length : sum;
  }, 0);
}

function sizeOf(value: object): number {
  return Array.isArray(value) ? value.length : Object.keys(value).length;
}

/** What is left of the limits. */
interface Left {
  characters: number;
}

function findMember(value: unknown, { name, loose }: PathSegment, left: Left): Found {
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
    if (other === name) continue;
    left.characters -= /^[\0-\x7f]*$/.test(other) ? other.length / 16 : other.length;
    if (left.characters < 0 || toLooseName(other) === loose) return "ambiguous";
  }
  if (!Object.hasOwn(value, name)) return "missing";
  const member = (value as Record<string, unknown>)[name];
  return member === undefined ? "missing" : { value: member };
}
