/**
 * `trivet skill pull`: a version as a folder or as an archive on this machine, whole or not at all.
 *
 * @module
 */
import { basename, join, resolve } from "node:path";
import { checkPath } from "../../../skills/package/path.ts";
import { isZip } from "../../../skills/archive/zip_reader.ts";
import { printLine, textOption, UsageError } from "../output.ts";
import { plainText } from "../plain_text.ts";
import { metered, withProgressBar } from "../progress_bar.ts";
import { unpackSkill } from "./skill_archive.ts";
import type { SkillCommand } from "./skill_command.ts";
import { refuseTaken, writeArchive, writeFolder } from "../written_whole.ts";

export const pull: SkillCommand = {
  operands: "ID|NAME",
  most: 1,
  options: {
    version: { type: "string" },
    output: { type: "string" },
    zip: { type: "boolean" },
    force: { type: "boolean" },
  },
  async run({ values, operands: [wanted], json, terminal, signal, open }) {
    if (wanted === undefined) throw new UsageError("Name the skill to pull");
    const output = textOption(values, "output") ?? ".";
    const force = values.force === true;
    const isFile = /\.(zip|skill)$/i.test(basename(output));
    const kind = isFile || values.zip === true ? "archive" : "folder";
    const place = await open();
    const { id } = await place.find(wanted);
    const version = await place.version(id, textOption(values, "version") ?? "latest");
    const name = checkName(version.name);
    const target = resolve(isFile ? output : join(output, kind === "archive" ? `${name}.zip` : name));
    // Before anything is loaded for nothing.
    refuseTaken(target, kind, force);
    const archive = await place.archive(id, version.id);
    const [files, size] = await withProgressBar("pulling", terminal, async (progress) => {
      if (kind === "archive") {
        progress.begin(archive.length);
        const chunks = mustBeZip(metered(archive.chunks, progress));
        return [null, await writeArchive(target, chunks, force, signal)] as const;
      }
      const unpacked = await unpackSkill(archive, progress);
      await writeFolder(target, unpacked, force, signal);
      return [unpacked.length, unpacked.reduce((sum, { bytes }) => sum + bytes.length, 0)] as const;
    });
    if (json) {
      return printLine(
        JSON.stringify({ id, version: version.id, name, path: target, files, size_bytes: size }),
      );
    }
    const what = files === null ? `${size} bytes` : files === 1 ? "1 file" : `${files} files`;
    printLine(`Wrote ${what} of ${name} (${plainText(version.id)}) to ${target}`);
  },
};

/** The name is a folder's on this machine. @throws {Error} for one that leads elsewhere, or hides what it makes */
function checkName(name: string): string {
  const checked = checkPath(name);
  if ("path" in checked && !checked.path.includes("/") && !name.startsWith(".")) return checked.path;
  throw new Error(`The skill is named "${plainText(name, 100)}", which cannot be a folder`);
}

async function* mustBeZip(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let head = new Uint8Array();
  for await (const chunk of chunks) {
    if (head.length < 4) {
      head = Uint8Array.from([...head, ...chunk.subarray(0, 4 - head.length)]);
      if (head.length === 4 && !isZip(head)) break;
    }
    yield chunk;
  }
  if (!isZip(head)) throw new Error("The skill did not come as a zip archive");
}
