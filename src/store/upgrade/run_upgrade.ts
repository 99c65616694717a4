/**
 * The upgrade of a store: changes the records of each older kind in batches, while servers read and write. Every batch is
 * one commit with the position after it, so the upgrade can stop at any point and go on, and several instances that run it
 * do each batch once.
 *
 * @module
 */
import { checkNames, type Names } from "../../options/option_check.ts";
import { pauseBefore } from "../retry.ts";
import {
  type Check,
  type Commit,
  type Entry,
  type Key,
  listAll,
  type Put,
  type Store,
  StoreUnavailableError,
} from "../store.ts";
import {
  CURRENT_FORMAT,
  findOlderKinds,
  FORMAT_KEY,
  FORMAT_VERSION,
  parseFormat,
  type StoreFormat,
  StoreFormatError,
  UNMARKED,
} from "../format.ts";
import { applySteps, findSteps, UPGRADE_STEPS, type UpgradeStep } from "./upgrade_steps.ts";

/** What was done with the records of one kind so far. */
export interface KindProgress {
  readonly kind: string;
  /** The version that its records get. */
  readonly to: number;
  /** How many records were read. */
  readonly read: number;
  /** How many of them were changed, and how many removed. */
  readonly changed: number;
  readonly removed: number;
}

/** Options of an upgrade. */
export interface UpgradeOptions {
  /** Called after each batch. */
  readonly onProgress?: (progress: KindProgress) => void;
  /** Called when all records of a kind have its current form. */
  readonly onKind?: (progress: KindProgress) => void;
  /** Changes nothing: reports what would be done. */
  readonly dryRun?: boolean;
  /** Reads all records again, also of a current store: those that an instance of an earlier version wrote afterwards. */
  readonly again?: boolean;
  /** Stops between two batches. */
  readonly signal?: AbortSignal;
}

const NAMES: Names<UpgradeOptions> = {
  onProgress: "function",
  onKind: "function",
  dryRun: "boolean",
  again: "boolean",
  signal: "object",
};

/** The position of the upgrade of a kind. */
interface Cursor extends KindProgress {
  readonly after?: Key;
}

/** Records of one commit. With those that are added, few enough for the locks of one commit on PostgreSQL. */
const BATCH_RECORDS = 40;

const cursorKey = (kind: string): Key => ["upgrade", kind];

/** The format of a store, and the version of its record; `null` when there is none. */
export async function readFormat(store: Store): Promise<{ format: StoreFormat; version: string | null }> {
  const entry = await store.get(FORMAT_KEY);
  return entry
    ? { format: parseFormat(entry.value), version: entry.version }
    : { format: UNMARKED, version: null };
}

/** Whether a store needs an upgrade, or only to be marked. */
export function isCurrent(format: StoreFormat): boolean {
  return format.version === FORMAT_VERSION && findOlderKinds(format).length === 0 &&
    format.upgrading === undefined &&
    Object.keys(CURRENT_FORMAT.kinds).every((kind) => format.kinds[kind] !== undefined);
}

/**
 * Upgrades a store, which was opened with `allowOlder`. Servers of this version may run on it
 * ({@linkcode openWhileUpgrading}); so may other calls of this function.
 * @returns what was done with each kind; empty when the store is current
 * @throws {StoreFormatError} for a newer store, and for records that no step can change; nothing was changed then
 * @throws {TypeError} for an option that does not exist
 */
export async function upgradeStore(store: Store, options: UpgradeOptions = {}): Promise<KindProgress[]> {
  checkNames("upgradeStore", options, NAMES);
  const { again = false, dryRun = false } = options;
  const steps = again ? UPGRADE_STEPS : findSteps((await readFormat(store)).format);
  if (dryRun) {
    const found: KindProgress[] = [];
    for (const kind of kindsOf(steps)) found.push(await countKind(store, kind, steps));
    await requireUpgradable(store, steps);
    return found;
  }
  await beginUpgrade(store, steps);
  // A position may be behind records that an instance of an earlier version wrote since.
  if (again) await store.commit({ remove: kindsOf(steps).map(cursorKey) });
  const done: KindProgress[] = [];
  for (const kind of kindsOf(steps)) {
    const progress = await upgradeKind(store, kind, steps, options);
    if (!progress) return done;
    options.onKind?.(progress);
    done.push(progress);
  }
  return done;
}

/** The kinds that the steps change, in their order. */
export function kindsOf(steps: readonly UpgradeStep[]): readonly string[] {
  return [...new Set(steps.map(({ kind }) => kind))];
}

/**
 * Checks that every record can be upgraded, and marks the store: from then on, earlier versions refuse to start on it.
 * @throws {StoreFormatError} when a record cannot be upgraded
 */
export async function beginUpgrade(store: Store, steps: readonly UpgradeStep[]): Promise<void> {
  await requireUpgradable(store, steps);
  for (let tries = 1;; tries++) {
    const { format, version } = await readFormat(store);
    const older = findOlderKinds(format).filter(({ kind }) => kindsOf(findSteps(format)).includes(kind));
    const value: StoreFormat = {
      version: FORMAT_VERSION,
      kinds: { ...CURRENT_FORMAT.kinds, ...Object.fromEntries(older.map(({ kind, from }) => [kind, from])) },
      ...(older.length > 0 && {
        upgrading: Object.fromEntries(older.map(({ kind, to }) => [kind, to])),
      }),
    };
    if (JSON.stringify(value) === JSON.stringify(format)) return;
    if (await store.commit({ check: [{ key: FORMAT_KEY, version }], set: [{ key: FORMAT_KEY, value }] })) {
      return;
    }
    await pauseBefore(tries);
  }
}

/** @throws {StoreFormatError} for the first record that a step refuses */
async function requireUpgradable(store: Store, steps: readonly UpgradeStep[]): Promise<void> {
  for (const kind of kindsOf(steps)) {
    for await (const entry of listAll(store, [kind])) {
      const change = applySteps(steps, entry);
      if (change && "refuse" in change) {
        throw new StoreFormatError(
          `The store has "${kind}" records of an early version, which cannot be upgraded. ${change.refuse}`,
        );
      }
    }
  }
}

async function countKind(store: Store, kind: string, steps: readonly UpgradeStep[]): Promise<KindProgress> {
  let [read, changed, removed] = [0, 0, 0];
  for await (const entry of listAll(store, [kind])) {
    read++;
    const change = applySteps(steps, entry);
    if (change && "remove" in change) removed++;
    else if (change) changed++;
  }
  return { kind, to: CURRENT_FORMAT.kinds[kind]!, read, changed, removed };
}

/** Upgrades the records of one kind. Resolves to `undefined` when it was stopped. */
async function upgradeKind(
  store: Store,
  kind: string,
  steps: readonly UpgradeStep[],
  { onProgress, signal }: UpgradeOptions,
): Promise<KindProgress | undefined> {
  const to = CURRENT_FORMAT.kinds[kind]!;
  const key = cursorKey(kind);
  let last: Cursor = { kind, to, read: 0, changed: 0, removed: 0 };
  let wasFound = false;
  for (let lost = 0; !signal?.aborted;) {
    const entry = await store.get<Cursor>(key);
    // Another instance may have finished the kind.
    if (!entry && wasFound) return last;
    wasFound ||= entry !== undefined;
    // Of an upgrade to another version, which did not end.
    const cursor: Cursor = entry?.value.to === to
      ? entry.value
      : { kind, to, read: 0, changed: 0, removed: 0 };
    const limit = Math.max(1, Math.floor(BATCH_RECORDS / 2 ** lost));
    const page = await store.list([kind], { after: cursor.after, limit });
    const check: Check = { key, version: entry?.version ?? null };
    if (page.length === 0) {
      if (await finishKind(store, kind, check)) return cursor;
      await pauseBefore(++lost);
      continue;
    }
    const { commit, changed, removed } = toCommit(page, steps);
    const next: Cursor = {
      kind,
      to,
      read: cursor.read + page.length,
      changed: cursor.changed + changed,
      removed: cursor.removed + removed,
      after: page.at(-1)!.key,
    };
    const done = await store.commit({
      check: [check, ...commit.check ?? []],
      set: [...commit.set ?? [], { key, value: next }],
      remove: commit.remove ?? [],
    });
    if (done) {
      wasFound = true;
      lost = 0;
      onProgress?.(last = next);
    } else {
      // Another instance did this batch, or a server changed a record of it: of one record it may happen again.
      await pauseBefore(++lost);
    }
  }
  return undefined;
}

/** The commit that upgrades these records, if they have not changed since they were read. */
export function toCommit(
  entries: readonly Entry[],
  steps: readonly UpgradeStep[],
): { commit: Commit; changed: number; removed: number } {
  const check: Check[] = [];
  const set: Put[] = [];
  const remove: Key[] = [];
  for (const entry of entries) {
    const { key, version, expires } = entry;
    const change = applySteps(steps, entry);
    if (!change) continue;
    // Written since the upgrade began, by an instance of an earlier version.
    if ("refuse" in change) throw new StoreFormatError(change.refuse);
    check.push({ key, version });
    if ("remove" in change) remove.push(key);
    else set.push({ key, value: change.value, expires }, ...change.add ?? []);
  }
  return { commit: { check, set, remove }, changed: check.length - remove.length, removed: remove.length };
}

/** Gives the kind its current version in the format record, and removes the cursor; `false` after a lost race. */
async function finishKind(store: Store, kind: string, cursor: Check): Promise<boolean> {
  const { format, version } = await readFormat(store);
  const { [kind]: _, ...upgrading } = format.upgrading ?? {};
  const value: StoreFormat = {
    version: FORMAT_VERSION,
    kinds: { ...format.kinds, [kind]: CURRENT_FORMAT.kinds[kind]! },
    ...(Object.keys(upgrading).length > 0 && { upgrading }),
  };
  return await store.commit({
    check: [cursor, { key: FORMAT_KEY, version }],
    set: [{ key: FORMAT_KEY, value }],
    remove: [cursor.key],
  });
}

/** Runs work again after each temporary failure of the engine, until it succeeds or is stopped. */
export async function retryWhileDown<Result>(
  work: () => Promise<Result>,
  signal: AbortSignal,
): Promise<Result | undefined> {
  while (!signal.aborted) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      await new Promise((resolve) => setTimeout(resolve, error.retryAfter * 1000));
    }
  }
  return undefined;
}
