/**
 * The format version of the records in a store. Every driver except the one in memory checks it before the first use of
 * the store: a store with another version is refused; an empty store gets a version record, and so does a store without
 * one whose records have the current format.
 *
 * @module
 */
import type { Key } from "./store.ts";

/** Raise it with every change after which older or newer code would misread records. */
export const FORMAT_VERSION = 1;

/** The key of the version record, `{ version }`. Never removed. */
export const FORMAT_KEY: Key = ["format"];

/** The store has records that this version of Trivet cannot read. */
export class StoreFormatError extends Error {
  override readonly name = "StoreFormatError";
}

/** A step that a driver performs during the check, before it is ready for other calls. */
export type FormatStep =
  /** Returns the value at a key. */
  | { readonly get: Key }
  /** Returns the values of the first records below a prefix. */
  | { readonly list: Key; readonly limit: number }
  /** Sets the value if the key is absent. Concurrent instances set the same value. */
  | { readonly put: Key; readonly value: { readonly version: number } };

/** How many records of a kind are checked in a store without a version record. */
const SAMPLE_RECORDS = 100;
type Fields = Readonly<Record<string, unknown>>;

/** Recognizes records of earlier formats, by kind. */
const OLDER: Readonly<Record<string, (record: Fields) => boolean>> = {
  client: ({ token_endpoint_auth_method }) => token_endpoint_auth_method === undefined,
  signing_key: ({ starts }) => starts === undefined,
  skill: ({ versions }) => versions === undefined,
  skill_file: () => true,
  blob: ({ references }) => references !== undefined,
};

/**
 * The steps of the check; {@linkcode ensureFormat} and {@linkcode ensureFormatSync} run them.
 * @throws {StoreFormatError} for a store of another version, and for records of an earlier format
 */
function* formatSteps(): Generator<FormatStep, void, unknown> {
  const found = yield { get: FORMAT_KEY };
  if (found !== undefined) return requireVersion((found as Fields | null)?.version);
  for (const [kind, isOlder] of Object.entries(OLDER)) {
    const records = (yield { list: [kind], limit: SAMPLE_RECORDS }) as readonly unknown[];
    if (records.some((record) => isOlder((record ?? {}) as Fields))) throw olderFormat(kind);
  }
  yield { put: FORMAT_KEY, value: { version: FORMAT_VERSION } };
}

/** @throws {StoreFormatError} for any version but {@linkcode FORMAT_VERSION} */
export function requireVersion(version: unknown): void {
  if (version === FORMAT_VERSION) return;
  throw new StoreFormatError(
    typeof version === "number" && version > FORMAT_VERSION
      ? `The store has format ${version}, written by a newer Trivet; this version reads format ${FORMAT_VERSION}. Update Trivet, or use another store`
      : `The store has the unknown format ${
        JSON.stringify(version)
      }; this version of Trivet reads format ${FORMAT_VERSION}. Use another store`,
  );
}

function olderFormat(kind: string): StoreFormatError {
  return new StoreFormatError(
    `The store was written by an early version of Trivet with another format of "${kind}" records. Use the version that wrote it, or start with an empty store (another --data folder, schema or name)`,
  );
}

/** Checks the format of a store with a synchronous driver. */
export function ensureFormatSync(perform: (step: FormatStep) => unknown): void {
  const steps = formatSteps();
  for (let next = steps.next(); !next.done;) next = steps.next(perform(next.value));
}

/** Checks the format of a store. */
export async function ensureFormat(perform: (step: FormatStep) => Promise<unknown>): Promise<void> {
  const steps = formatSteps();
  for (let next = steps.next(); !next.done;) next = steps.next(await perform(next.value));
}
