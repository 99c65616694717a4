/**
 * The version of the records in a store. Every driver but the one in memory reads it when it opens the store or first
 * uses it, before anything else: a store of another version is refused, an empty one is marked, and so is one that the
 * versions of Trivet before this record wrote, as long as its records are as they were last.
 *
 * @module
 */
import type { Key } from "./store.ts";

/** Raised by every change after which this version's code, or the one before, would read records wrongly. */
export const FORMAT_VERSION = 1;

/** `{ version }`. Removed by nobody. */
export const FORMAT_KEY: Key = ["format"];

/** The store holds records that this version of Trivet does not read. */
export class StoreFormatError extends Error {
  override readonly name = "StoreFormatError";
}

/** What a driver is asked to do, one after the other, past its own readiness. */
export type FormatStep =
  /** The value at a key. */
  | { readonly get: Key }
  /** The values of the first records below a prefix. */
  | { readonly list: Key; readonly limit: number }
  /** Written where nothing is; whoever is first has written the same. */
  | { readonly put: Key; readonly value: { readonly version: number } };

/** How many records of a kind are looked at in a store that does not tell its version: once in its life. */
const SAMPLE = 100;
type Fields = Readonly<Record<string, unknown>>;

/** What earlier versions stored in another way, by the kind of record. */
const OLDER: Readonly<Record<string, (record: Fields) => boolean>> = {
  client: ({ token_endpoint_auth_method }) => token_endpoint_auth_method === undefined,
  signing_key: ({ starts }) => starts === undefined,
  skill: ({ versions }) => versions === undefined,
  skill_file: () => true,
  blob: ({ references }) => references !== undefined,
};

/**
 * The steps that make sure of a store's format; run them with {@linkcode ensureFormat} or {@linkcode ensureFormatSync}.
 * @throws {StoreFormatError} for a store of a newer version, or of one before this record that kept records otherwise
 */
function* formatSteps(): Generator<FormatStep, void, unknown> {
  const found = yield { get: FORMAT_KEY };
  if (found !== undefined) return requireVersion((found as Fields | null)?.version);
  for (const [kind, isOlder] of Object.entries(OLDER)) {
    const records = (yield { list: [kind], limit: SAMPLE }) as readonly unknown[];
    if (records.some((record) => isOlder((record ?? {}) as Fields))) throw olderFormat(kind);
  }
  yield { put: FORMAT_KEY, value: { version: FORMAT_VERSION } };
}

/** @throws {StoreFormatError} unless it is the version of this code */
export function requireVersion(version: unknown): void {
  if (version === FORMAT_VERSION) return;
  throw new StoreFormatError(
    typeof version === "number" && version > FORMAT_VERSION
      ? `The store has format ${version}, written by a newer Trivet; this one reads format ${FORMAT_VERSION}. Update Trivet, or use another store`
      : `The store's format is ${
        JSON.stringify(version)
      }, which this Trivet does not know; it reads format ${FORMAT_VERSION}. Use another store`,
  );
}

function olderFormat(kind: string): StoreFormatError {
  return new StoreFormatError(
    `The store was written by an early version of Trivet that kept "${kind}" records in another form. Use the version that wrote it, or begin with an empty store (another --data folder, schema or name)`,
  );
}

/** Makes sure of the format of a store whose driver answers at once. */
export function ensureFormatSync(perform: (step: FormatStep) => unknown): void {
  const steps = formatSteps();
  for (let next = steps.next(); !next.done;) next = steps.next(perform(next.value));
}

/** Makes sure of the format of a store. */
export async function ensureFormat(perform: (step: FormatStep) => Promise<unknown>): Promise<void> {
  const steps = formatSteps();
  for (let next = steps.next(); !next.done;) next = steps.next(await perform(next.value));
}
