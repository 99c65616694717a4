/**
 * Finds a version of an uploaded skill by any of its names, and lists versions by creation time.
 *
 * @module
 */
import { WorkSlice } from "../../http/work_slice.ts";
import { CACHED, type Entry, type Key, type Store } from "../../store/store.ts";
import { identifierPrefix } from "../identifier.ts";
import {
  type Skill,
  type SkillVersion,
  versionKey,
  versionNumberKey,
  type VersionSummary,
  versionSummaryKey,
} from "../records.ts";

/** Prefixes of version ids in older clients. */
const OLDER_ID = /^skill_?ver(sion)?_/;

/**
 * By id (`skver_…`, or `skill_version_…` of the older dialect), epoch or number, or `latest`. `undefined` when there is
 * none.
 */
export async function findVersion(
  store: Store,
  workspace: string,
  skill: Skill,
  name: string,
): Promise<Entry<SkillVersion> | undefined> {
  // A record lists up to 2,000 files, and one request, or many in one turn, may read several.
  const slice = new WorkSlice();
  if (slice.isOver) await slice.yield();
  // A version never changes, so a cached record is valid.
  const get = (id: string) => store.get<SkillVersion>(versionKey(workspace, skill.id, id), CACHED);
  if (name === "latest") return skill.latest ? await get(skill.latest.id) : undefined;
  if (/^\d{16}$/.test(name)) return await findEpoch(store, workspace, skill.id, name);
  if (/^[1-9]\d{0,8}$/.test(name)) {
    const entry = await store.get<string>(versionNumberKey(workspace, skill.id, Number(name)));
    return entry && await get(entry.value);
  }
  return await get(name.replace(OLDER_ID, "skver_"));
}

/** Ids begin with their millisecond, and a skill has one version in each. */
async function findEpoch(
  store: Store,
  workspace: string,
  skill: string,
  epoch: string,
): Promise<Entry<SkillVersion> | undefined> {
  const before = identifierPrefix("skver", Math.floor(Number(epoch) / 1000));
  const [entry] = await store.list<SkillVersion>(["skill_version", workspace, skill], {
    after: versionKey(workspace, skill, before),
    limit: 1,
  });
  return entry?.value.epoch === epoch ? entry : undefined;
}

/** What lists show of at most `limit` versions after the one of this id, newest first or oldest first. */
export async function listVersions(
  store: Store,
  workspace: string,
  skill: string,
  { after, limit, newestFirst }: {
    readonly after: string | undefined;
    readonly limit: number;
    readonly newestFirst: boolean;
  },
): Promise<VersionSummary[]> {
  const start: Key | undefined = after === undefined ? undefined : versionSummaryKey(workspace, skill, after);
  const entries = await store.list<VersionSummary>(["skill_version_summary", workspace, skill], {
    after: start,
    limit,
    reverse: newestFirst,
  });
  return entries.map(({ value }) => value);
}
