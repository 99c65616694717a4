/**
 * `trivet skill remove`: removes a skill with all of its versions, or one version. By id only: several skills can share
 * a name.
 *
 * @module
 */
import { printLine, UsageError } from "../output.ts";
import { printableText } from "../printable_text.ts";
import { type SkillCommand, skillCommand } from "./skill_command.ts";

export const remove: SkillCommand = skillCommand({
  operands: "ID",
  maxOperands: 1,
  options: { version: { value: "ID", summary: "only this version", shownDefault: "the whole skill" } },
  async run({ values, operands: [id], json, open }) {
    if (id === undefined) throw new UsageError("missing argument: ID of the skill to remove");
    const { version } = values;
    // Another version may be the latest one by now.
    if (version === "latest") throw new UsageError('--version must be the id of a version, but is "latest"');
    const place = await open();
    if (version === undefined) await place.remove(id);
    else await place.removeVersion(id, version);
    if (json) return printLine(JSON.stringify({ id, version: version ?? null, removed: true }));
    printLine(
      version === undefined
        ? `Removed ${printableText(id)}`
        : `Removed version ${printableText(version)} of ${printableText(id)}`,
    );
  },
});
