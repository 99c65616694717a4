/**
 * `trivet skill list` and `versions`: tables, newest first.
 *
 * @module
 */
import { printLine, printTable, UsageError } from "../output.ts";
import { plainText } from "../plain_text.ts";
import type { SkillCommand } from "./skill_command.ts";

/** Characters of a description in a table. */
const MOST = 60;

export const list: SkillCommand = {
  operands: "",
  most: 0,
  options: {},
  async run({ json, open }) {
    const skills = await Array.fromAsync((await open()).list());
    if (json) return printLine(JSON.stringify(skills));
    printTable(
      ["ID", "NAME", "SOURCE", "UPDATED", "DESCRIPTION"],
      skills.map(({ id, name, display_name, source, updated_at, description }) => [
        plainText(id),
        plainText(name ?? display_name ?? "-", MOST),
        plainText(source),
        plainText(updated_at.slice(0, 10)),
        plainText(description ?? "-", MOST),
      ]),
    );
  },
};

export const versions: SkillCommand = {
  operands: "ID|NAME",
  most: 1,
  options: {},
  async run({ operands: [skill], json, open }) {
    if (skill === undefined) throw new UsageError("Name the skill whose versions to list");
    const place = await open();
    const { id } = await place.find(skill);
    const found = await Array.fromAsync(place.versions(id));
    if (json) return printLine(JSON.stringify(found));
    printTable(
      ["VERSION", "CREATED", "DESCRIPTION"],
      found.map(({ id, created_at, description }) => [
        plainText(id),
        plainText(created_at),
        plainText(description, MOST),
      ]),
    );
  },
};
