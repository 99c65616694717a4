/**
 * `trivet skill remove`: removes a skill with all of its versions, or one version.
 *
 * @module
 */
import { printJson, printLine, UsageError } from "../output.ts";
import { printableText } from "../printable_text.ts";
import { type SkillCommand, skillCommand } from "./skill_command.ts";
import { isSkillName, type SkillPlace } from "./skill_place.ts";

export const remove: SkillCommand = skillCommand({
  operands: "ID|NAME",
  summary: "removes a skill with all of its versions, or one version",
  options: { version: { value: "ID", summary: "only this version", shownDefault: "the whole skill" } },
  async run({ values, operands: [wanted], json, open }) {
    const { version } = values;
    // Another version may be the latest one by now.
    if (version === "latest") throw new UsageError('--version must be the id of a version, but is "latest"');
    const place = await open();
    const id = await findId(place, wanted!);
    if (version === undefined) await place.remove(id);
    else await place.removeVersion(id, version);
    if (json) return printJson({ id, version: version ?? null, removed: true });
    const what = printableText(id === wanted ? id : `${wanted} (${id})`);
    printLine(
      version === undefined ? `Removed ${what}` : `Removed version ${printableText(version)} of ${what}`,
    );
  },
});

/** The id of the only uploaded skill with this name; else the text itself. @throws {Error} when several have the name */
async function findId(place: SkillPlace, wanted: string): Promise<string> {
  if (!isSkillName(wanted)) return wanted;
  const ids = (await Array.fromAsync(place.named(wanted))).map(({ id }) => id);
  if (ids.length <= 1) return ids[0] ?? wanted;
  throw new Error(
    `${ids.length} skills have the name "${wanted}". Remove one by its id: ${
      printableText(ids.join(", "), 500)
    }`,
  );
}
