/**
 * `trivet skill list` and `trivet skill versions`: tables, newest first.
 *
 * @module
 */
import { printJson, printTable } from "../output.ts";
import { printableText } from "../printable_text.ts";
import { type SkillCommand, skillCommand } from "./skill_command.ts";

/** Of a name or a description in a table. */
const MAX_CELL_CHARACTERS = 60;

export const list: SkillCommand = skillCommand({
  operands: "",
  summary: "lists the uploaded skills, and with --url also local ones, the newest first",
  options: {},
  async run({ json, open }) {
    const skills = await Array.fromAsync((await open()).list());
    if (json) return printJson(skills);
    printTable(
      ["ID", "NAME", "SOURCE", "UPDATED", "DESCRIPTION"],
      skills.map(({ id, name, display_name, source, updated_at, description }) => [
        printableText(id),
        printableText(name ?? display_name ?? "-", MAX_CELL_CHARACTERS),
        printableText(source),
        printableText(updated_at.slice(0, 10)),
        printableText(description ?? "-", MAX_CELL_CHARACTERS),
      ]),
    );
  },
});

export const versions: SkillCommand = skillCommand({
  operands: "ID|NAME",
  summary: "lists the versions of a skill, the newest first",
  options: {},
  async run({ operands: [skill], json, open }) {
    const place = await open();
    const { id } = await place.find(skill!);
    const found = await Array.fromAsync(place.versions(id));
    if (json) return printJson(found);
    printTable(
      ["VERSION", "CREATED", "DESCRIPTION"],
      found.map(({ id, created_at, description }) => [
        printableText(id),
        printableText(created_at),
        printableText(description, MAX_CELL_CHARACTERS),
      ]),
    );
  },
});
