/**
 * Test kit: the part of a source of skills that lists and finds entries.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import type { SkillEntry, SkillSource } from "./skills.ts";

/** @param visible the entries that a caller sees, in their order */
export function browseEntries(
  visible: (principal: Principal | undefined) => readonly SkillEntry[],
): Pick<SkillSource, "page" | "find"> {
  return {
    page(principal, { after, limit }) {
      const all = visible(principal);
      const start = after ? all.findIndex(({ path }) => path.join() === after.join()) + 1 : 0;
      const entries = all.slice(start, start + limit);
      return Promise.resolve({
        entries,
        next: start + limit < all.length ? entries.at(-1)!.path : undefined,
      });
    },
    find(principal, path) {
      const entry = visible(principal).find((each) => each.path.every((segment, i) => segment === path[i]));
      return Promise.resolve(entry && { entry, rest: path.slice(entry.path.length) });
    },
  };
}
