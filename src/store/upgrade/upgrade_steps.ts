/**
 * What becomes of records of earlier versions: one step for each kind and version, a pure function of the record.
 *
 * A step recognizes records of the earlier form by their members, because an interrupted upgrade is repeated, and servers
 * write records of the current form meanwhile. So a change of a form must leave a difference that a step can see.
 *
 * @module
 */
import { secretDigest } from "../../crypto/secret.ts";
import type { Entry, Key, Put } from "../store.ts";
import { CURRENT_FORMAT, findOlderKinds, type StoreFormat } from "../format.ts";

/** What a step does with one record. The expiry of a changed record stays. */
export type RecordChange =
  | { readonly remove: true }
  | { readonly value: unknown; readonly add?: readonly Put[] }
  /** The upgrade is refused before anything is changed, for this reason. */
  | { readonly refuse: string };

/** The way of the records of a kind from the version before to version `to`. */
export interface UpgradeStep {
  readonly kind: string;
  readonly to: number;
  /** For the dry run and the progress: what changes, and what users notice. */
  readonly summary: string;
  /** Kinds of which the step adds records: until it is done, reads of them wait. */
  readonly adds?: readonly string[];
  /** What becomes of a record; `undefined` for one that has the later form. */
  upgrade(entry: Entry): RecordChange | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/** Declares a step for records that are objects. */
function step(
  kind: string,
  to: number,
  summary: string,
  upgrade: (record: Fields, entry: Entry) => RecordChange | undefined,
  adds: readonly string[] = [],
): UpgradeStep {
  const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null;
  return {
    kind,
    to,
    summary,
    adds,
    upgrade: (entry) => upgrade(isObject(entry.value) ? entry.value : {}, entry),
  };
}

const REMOVED: RecordChange = { remove: true };
/** Steps for what only unreleased versions of a few hours wrote would not be worth their risk. */
const SKILLS_ADVICE =
  'Remove the skills with the version that wrote them ("trivet skill remove"), run this again, and add the skills anew';

/** All steps, in the order of the versions of each kind. Kinds with few records come first. */
export const UPGRADE_STEPS: readonly UpgradeStep[] = [
  step(
    "client",
    2,
    "clients get token_endpoint_auth_method and source",
    (client) => {
      if (client.token_endpoint_auth_method !== undefined) return undefined;
      const token_endpoint_auth_method = client.secret_digest === undefined ? "none" : "client_secret_basic";
      return { value: { ...client, source: "operator", token_endpoint_auth_method } };
    },
  ),
  step(
    "signing_key",
    2,
    "signing keys without a start are removed: clients whose access tokens they signed refresh them",
    ({ starts }) => starts === undefined ? REMOVED : undefined,
  ),
  step("key_set", 2, "cached key sets are removed", () => REMOVED),
  step(
    "revoked_token",
    2,
    "revoked access tokens must have expired",
    (_, { expires }) => ({
      refuse:
        `The store has revoked access tokens in a form that this version does not read. Wait until they have expired${
          expires === undefined ? "" : ` (${new Date(expires).toISOString()})`
        }, and run this again`,
    }),
  ),
  step("skill_file", 2, "skills must be added anew", () => ({ refuse: SKILLS_ADVICE })),
  step(
    "skill",
    2,
    "skills must be added anew",
    ({ versions }) => versions === undefined ? { refuse: SKILLS_ADVICE } : undefined,
  ),
  step(
    "blob",
    2,
    "skills must be added anew",
    ({ references }) => references === undefined ? undefined : { refuse: SKILLS_ADVICE },
  ),
  step(
    "skill_version",
    2,
    "versions of skills get a summary, so that lists read no lists of files",
    (version, { key }) => {
      if (version.listed !== undefined) return undefined;
      const { id, epoch, number, name, description, directory, created } = version;
      return {
        value: { ...version, listed: true },
        add: [{
          key: ["skill_version_summary", ...key.slice(1)],
          value: { id, epoch, number, name, description, directory, created },
        }],
      };
    },
    ["skill_version_summary"],
  ),
  step(
    "session",
    2,
    "login sessions are listed by user; those without a time of last use end",
    (session, { key, expires }) => {
      if (session.seen === undefined) return REMOVED;
      if (session.id !== undefined) return undefined;
      const digest = String(key[1]);
      return {
        // The same for every instance that upgrades, and no hint at the digest.
        value: { id: secretDigest(`session ${digest}`), ...session },
        add: [index(["user_session", String(session.user), digest], expires)],
      };
    },
    ["user_session"],
  ),
  step(
    "access_token",
    2,
    "access tokens without a time of issue are removed: clients refresh them",
    ({ issued }) => issued === undefined ? REMOVED : undefined,
  ),
  step(
    "grant",
    2,
    "grants are listed by user; those without an end are removed: users allow these clients once more",
    (grant, { key }) => {
      if (typeof grant.until !== "number") return REMOVED;
      if (grant.listed !== undefined) return undefined;
      return {
        value: { ...grant, listed: grant.until },
        add: [index(["user_grant", String(grant.user), String(key[1])], grant.until)],
      };
    },
    ["user_grant"],
  ),
];

/** A record that only says by its key that another one exists. */
function index(key: Key, expires: number | undefined): Put {
  return { key, value: true, expires };
}

/** The steps that a store of this format needs. */
export function findSteps(format: StoreFormat): UpgradeStep[] {
  const older = new Map(findOlderKinds(format).map(({ kind, from }) => [kind, from]));
  return UPGRADE_STEPS.filter(({ kind, to }) => to > (older.get(kind) ?? CURRENT_FORMAT.kinds[kind]!));
}

/** What becomes of a record by all steps of its kind; `undefined` when none changes it. */
export function applySteps(steps: readonly UpgradeStep[], entry: Entry): RecordChange | undefined {
  let change: RecordChange | undefined;
  let value = entry.value;
  const add: Put[] = [];
  for (const { kind, upgrade } of steps) {
    if (kind !== entry.key[0]) continue;
    const next = upgrade({ ...entry, value });
    if (!next) continue;
    if (!("value" in next)) return next;
    value = next.value;
    add.push(...next.add ?? []);
    change = { value, add };
  }
  return change;
}
