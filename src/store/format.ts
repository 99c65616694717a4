/**
 * The format of a store: the version of each kind of records in it. Every driver except the one in memory checks it before
 * the first use of the store. It refuses a newer store, and an older one unless it was opened with `allowOlder`; an empty
 * store gets a format record. `upgrade/` makes an older store current.
 *
 * @module
 */
import type { Key } from "./store.ts";
import { RECORD_KINDS, RETIRED_KINDS } from "./upgrade/record_kinds.ts";

/** The version of the format record itself. In version 1 it had no kinds. */
export const FORMAT_VERSION = 2;

/** The key of the format record. Never removed. */
export const FORMAT_KEY: Key = ["format"];

/** The value of the format record. */
export interface StoreFormat {
  readonly version: number;
  /** The version of each kind: no record of it has an earlier form. A kind that is missing has version 1. */
  readonly kinds: Readonly<Record<string, number>>;
  /** The kinds of which a part may have this later version, because they are being upgraded. */
  readonly upgrading?: Readonly<Record<string, number>>;
}

/** The format that this version of Trivet reads and writes. */
export const CURRENT_FORMAT: StoreFormat = {
  version: FORMAT_VERSION,
  kinds: { ...RECORD_KINDS, ...RETIRED_KINDS },
};

/** What a store without a format record is: all kinds have version 1. */
export const UNMARKED: StoreFormat = { version: 0, kinds: {} };

/** The store has records that this version of Trivet cannot read. */
export class StoreFormatError extends Error {
  override readonly name = "StoreFormatError";
}

/** An option of every driver that keeps a format record. */
export interface FormatOptions {
  /**
   * Opens a store that needs an upgrade, for `trivet/upgrade`. Its records may have forms that the services misread.
   * @default false
   */
  readonly allowOlder?: boolean;
}

/** A step that a driver performs during the check, before it is ready for other calls. */
export type FormatStep =
  /** Returns the value at a key. */
  | { readonly get: Key }
  /** Returns the values of the first records below a prefix. */
  | { readonly list: Key; readonly limit: number }
  /** Sets the value if the key is absent. Concurrent instances set the same value. */
  | { readonly put: Key; readonly value: StoreFormat };

/** A kind of records that needs an upgrade. */
export interface OlderKind {
  readonly kind: string;
  readonly from: number;
  readonly to: number;
}

/** The kinds whose records may have an earlier form. */
export function findOlderKinds({ kinds }: StoreFormat): OlderKind[] {
  return Object.entries(CURRENT_FORMAT.kinds)
    .map(([kind, to]) => ({ kind, from: kinds[kind] ?? 1, to }))
    .filter(({ from, to }) => from < to);
}

/**
 * The format record of a store.
 * @throws {StoreFormatError} when it is invalid, or has a version or a kind that this version of Trivet does not know
 */
export function parseFormat(value: unknown): StoreFormat {
  const { version, kinds = {}, upgrading = {} } = (value ?? {}) as Partial<StoreFormat>;
  requireVersion(version);
  if (version === 1) return { version, kinds: {} };
  for (const versions of [kinds, upgrading]) {
    for (const [kind, found] of Object.entries(versions)) {
      const known = CURRENT_FORMAT.kinds[kind];
      if (Number.isInteger(found) && found > 0 && known !== undefined && found <= known) continue;
      throw new StoreFormatError(
        `The store has "${kind}" records of version ${JSON.stringify(found)}, written by a newer Trivet; ` +
          `this version reads ${known === undefined ? "no such records" : `version ${known}`}. ${WHEN_NEWER}`,
      );
    }
  }
  return value as StoreFormat;
}

const WHEN_NEWER = "Update Trivet, or restore a backup that this version made";

/** @throws {StoreFormatError} for a version of the format record that this version of Trivet does not read */
export function requireVersion(version: unknown): asserts version is number {
  if (version === 1 || version === FORMAT_VERSION) return;
  throw new StoreFormatError(
    typeof version === "number" && version > FORMAT_VERSION
      ? `The store has format ${version}, written by a newer Trivet; this version reads format ${FORMAT_VERSION}. ${WHEN_NEWER}`
      : `The store has the unknown format ${
        JSON.stringify(version)
      }; this version of Trivet reads format ${FORMAT_VERSION}. Use another store`,
  );
}

/** The refusal of a store that needs an upgrade. */
export function toOlderError(older: readonly OlderKind[]): StoreFormatError {
  const named = older.slice(0, 3).map(({ kind, from, to }) => `"${kind}" ${from}, now ${to}`).join("; ");
  return new StoreFormatError(
    `The store was written by an earlier version of Trivet (versions of records: ${named}${
      older.length > 3 ? "; …" : ""
    }). Make a backup, then run "trivet upgrade", or "trivet serve" without --no-upgrade`,
  );
}

/**
 * The steps of the check; {@linkcode ensureFormat} and {@linkcode ensureFormatSync} run them. Returns whether the store has
 * a format record of the current version.
 */
function* formatSteps({ allowOlder = false }: FormatOptions): Generator<FormatStep, boolean, unknown> {
  const found = yield { get: FORMAT_KEY };
  if (found === undefined) {
    const older: OlderKind[] = [];
    for (const kind of findOlderKinds(UNMARKED)) {
      const first = (yield { list: [kind.kind], limit: 1 }) as readonly unknown[];
      if (first.length > 0) older.push(kind);
    }
    if (older.length === 0) {
      yield { put: FORMAT_KEY, value: CURRENT_FORMAT };
      return true;
    }
    if (!allowOlder) throw toOlderError(older);
    return false;
  }
  const format = parseFormat(found);
  const older = findOlderKinds(format);
  if (older.length > 0 && !allowOlder) throw toOlderError(older);
  return format.version === FORMAT_VERSION;
}

/**
 * Checks the format of a store with a synchronous driver. Returns whether it has a format record of the current version.
 * @throws {StoreFormatError} for a newer store, and for an older one without `allowOlder`
 */
export function ensureFormatSync(perform: (step: FormatStep) => unknown, options: FormatOptions): boolean {
  const steps = formatSteps(options);
  let next = steps.next();
  while (!next.done) next = steps.next(perform(next.value));
  return next.value;
}

/** As {@linkcode ensureFormatSync}, with an asynchronous driver. */
export async function ensureFormat(
  perform: (step: FormatStep) => Promise<unknown>,
  options: FormatOptions,
): Promise<boolean> {
  const steps = formatSteps(options);
  let next = steps.next();
  while (!next.done) next = steps.next(await perform(next.value));
  return next.value;
}
