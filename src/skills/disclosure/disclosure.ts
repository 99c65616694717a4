/**
 * Reports each level of a skill that goes to a model.
 *
 * @module
 */
import type { TrivetEvent } from "../../events.ts";
import type { Principal } from "../../http/principal.ts";
import type { SkillEntries, SkillEntry } from "./entries.ts";
import { estimateFileTokens } from "../package/tokens.ts";

export type Disclosure = Extract<TrivetEvent, { type: "skill_disclosed" }>;

/** Called for every level that goes to a model. */
export type Disclose = (disclosure: Omit<Disclosure, "type" | "via">) => void;

/** The same entries, with a report for each page and each file that a caller gets. */
export function discloseEntries(entries: SkillEntries, disclose: Disclose): SkillEntries {
  const wrap = (principal: Principal | undefined, entry: SkillEntry): SkillEntry => {
    const { id, version, tokens, frontMatter: { name } } = entry;
    return {
      ...entry,
      async read(path) {
        const file = await entry.read(path);
        if (!file) return undefined;
        const workspace = principal?.workspace;
        if (path === "SKILL.md") {
          disclose({ workspace, id, name, version, level: 2, tokens: tokens.instructions });
        } else {
          const tokens = estimateFileTokens(file.mediaType, file.bytes.length);
          disclose({ workspace, id, name, version, level: 3, tokens, path });
        }
        return file;
      },
    };
  };
  return {
    async page(principal, options) {
      const page = await entries.page(principal, options);
      for (const { id, version, tokens, frontMatter: { name } } of page.entries) {
        disclose({
          workspace: principal?.workspace,
          id,
          name,
          version,
          level: 1,
          tokens: tokens.metadata,
        });
      }
      return { ...page, entries: page.entries.map((entry) => wrap(principal, entry)) };
    },
    async find(principal, path) {
      const found = await entries.find(principal, path);
      return found && { ...found, entry: wrap(principal, found.entry) };
    },
  };
}
