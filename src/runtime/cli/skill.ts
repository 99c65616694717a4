/**
 * `trivet skill`: uploaded skills of a data folder, by the same rules as the service.
 *
 * @module
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join, relative, resolve, sep } from "node:path";
import process from "node:process";
import { readPackage, type SentFile } from "../../skills/package.ts";
import { createLedger } from "../../skills/blob_ledger.ts";
import { publish } from "../../skills/publish.ts";
import type { Skill } from "../../skills/records.ts";
import { removeSkill } from "../../skills/remove.ts";
import { isZip, readZip } from "../../skills/zip_reader.ts";
import { listAll } from "../../store/store.ts";
import { DATA_HELP, DATA_OPTION, readPlace, withStore } from "./data.ts";
import { printLine, printTable, readArguments, textOption, UsageError } from "./output.ts";

export const summary = "adds, lists and removes skills";
export const help: string = `trivet skill: adds, lists and removes skills

Usage: trivet skill add FOLDER|ZIP [options]
       trivet skill list [options]
       trivet skill remove ID [options]

${DATA_HELP}
  --workspace NAME  whose skills (default: default)
  --json            print JSON
add:
  --display-name NAME  a label (default: the skill's name)

Skills that lie in the folder of local skills need no adding: they are served as they are.

Examples:
  trivet skill add ./my-skill
  trivet skill list --json
`;

const LIMIT = 8 * 1024 * 1024;

export async function run(argv: readonly string[]): Promise<void> {
  const { values, operands: [action, operand] } = readArguments(argv, {
    ...DATA_OPTION,
    json: { type: "boolean" },
    workspace: { type: "string" },
    "display-name": { type: "string" },
  }, 2);
  const place = readPlace(values, process.env);
  const workspace = textOption(values, "workspace") ?? "default";
  const json = values.json === true;
  switch (action) {
    case "add": {
      if (operand === undefined) throw new UsageError("Name the folder or archive to add");
      const content = readPackage(await readFiles(resolve(operand)), LIMIT);
      return await withStore(place, async (store) => {
        const displayName = textOption(values, "display-name");
        const { skill } = await publish(
          createLedger(store, Date.now, await place.openBlobs()),
          workspace,
          content,
          {
            displayName,
            now: Date.now(),
          },
        );
        printLine(
          json ? JSON.stringify(skill) : `Added ${skill.name} (${skill.id}), ${content.files.length} files`,
        );
      });
    }
    case "list":
      return await withStore(place, async (store) => {
        const skills = await Array.fromAsync(
          listAll<Skill>(store, ["skill", workspace]),
          ({ value }) => value,
        );
        if (json) return printLine(JSON.stringify(skills));
        printTable(
          ["ID", "NAME", "CREATED", "DESCRIPTION"],
          skills.map(({ id, name, created_at, description }) => [
            id,
            name,
            created_at.slice(0, 10),
            description.replace(/\s+/g, " ").slice(0, 60),
          ]),
        );
      });
    case "remove":
      if (operand === undefined) throw new UsageError("Name the id of the skill to remove");
      return await withStore(place, async (store) => {
        if (
          await removeSkill(
            store,
            createLedger(store, Date.now, await place.openBlobs()),
            workspace,
            operand,
          ) === "gone"
        ) {
          throw new Error(`There is no skill "${operand}"`);
        }
        printLine(`Removed ${operand}`);
      });
    default:
      throw new UsageError("Say what to do: add, list or remove");
  }
}

/** The files of a folder, named from it on, or of an archive. Links are refused. */
async function readFiles(path: string): Promise<SentFile[]> {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) throw new Error(`There is nothing at "${path}"`);
  if (!stats.isDirectory()) {
    const bytes = new Uint8Array(readFileSync(path));
    if (!isZip(bytes)) throw new Error(`"${path}" must be a folder or a zip archive`);
    return (await readZip(bytes, LIMIT)).map(({ path, bytes }) => ({ path, bytes }));
  }
  const files: SentFile[] = [];
  let size = 0;
  for (const entry of readdirSync(path, { recursive: true, withFileTypes: true })) {
    const target = join(entry.parentPath, entry.name);
    if (entry.isSymbolicLink()) throw new Error(`"${target}" is a link: a skill must hold its files itself`);
    if (!entry.isFile()) continue;
    size += statSync(target).size;
    if (size > LIMIT) throw new Error(`A skill may have at most ${LIMIT} bytes`);
    files.push({
      path: [basename(path), ...relative(path, target).split(sep)].join("/"),
      bytes: new Uint8Array(readFileSync(target)),
    });
  }
  return files;
}
