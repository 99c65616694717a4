/**
 * Reads the records of uploaded skills, a few at a time.
 *
 * @module
 */
import { WorkSlice } from "../../http/work_slice.ts";
import type { Entry, Key, Store } from "../../store/store.ts";
import type { Skill } from "../records.ts";

/** A record has up to 16 KB of front matter, and to read many of them in one turn would block the event loop. */
const SKILLS_AT_ONCE = 100;

/** At most `limit` skills of a workspace after the one of this key, newest first (or oldest first). */
export async function readSkills(
  store: Store,
  workspace: string,
  { after, limit, oldestFirst = false }: {
    readonly after?: Key | undefined;
    readonly limit: number;
    readonly oldestFirst?: boolean;
  },
): Promise<Entry<Skill>[]> {
  const skills: Entry<Skill>[] = [];
  const slice = new WorkSlice();
  for (;;) {
    const wanted = Math.min(limit - skills.length, SKILLS_AT_ONCE);
    const some = await store.list<Skill>(["skill", workspace], {
      after: skills.at(-1)?.key ?? after,
      limit: wanted,
      reverse: !oldestFirst,
    });
    skills.push(...some);
    if (some.length < wanted || skills.length === limit) return skills;
    if (slice.isOver) await slice.yield();
  }
}
