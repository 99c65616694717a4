/**
 * `trivet skill remove`: a skill with all of its versions, or one of them. By id only: a name may be of several.
 *
 * @module
 */
import { printLine, textOption, UsageError } from "../output.ts";
import { plainText } from "../plain_text.ts";
import type { SkillCommand } from "./skill_command.ts";

export const remove: SkillCommand = {
  operands: "ID",
  most: 1,
  options: { version: { type: "string" } },
  async run({ values, operands: [id], json, open }) {
    if (id === undefined) throw new UsageError("Name the id of the skill to remove");
    const version = textOption(values, "version");
    if (version === "latest") throw new UsageError("Name the version to remove: latest may be another one");
    const place = await open();
    if (version === undefined) await place.remove(id);
    else await place.removeVersion(id, version);
    if (json) return printLine(JSON.stringify({ id, version: version ?? null, removed: true }));
    printLine(
      version === undefined
        ? `Removed ${plainText(id)}`
        : `Removed version ${plainText(version)} of ${plainText(id)}`,
    );
  },
};
