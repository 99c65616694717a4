/**
 * `trivet skill pull`: writes a version as a folder or as an archive, completely or not at all.
 *
 * @module
 */
import { basename, join, resolve } from "node:path";
import { checkPath } from "../../../skills/package/path.ts";
import { isZip } from "../../../skills/archive/zip_reader.ts";
import { printJson, printLine } from "../output.ts";
import { printableText } from "../printable_text.ts";
import { metered, withProgressBar } from "../progress_bar.ts";
import { unpackSkill } from "./skill_archive.ts";
import { type SkillCommand, skillCommand, VERSION_OPTION } from "./skill_command.ts";
import { checkTarget, writeArchive, writeFolder } from "../atomic_write.ts";

export const pull: SkillCommand = skillCommand({
  operands: "ID|NAME",
  summary: "writes a version as a folder with the name of the skill, or as an archive",
  options: {
    version: VERSION_OPTION,
    output: {
      value: "PATH",
      summary: "the folder to write it into, or a file that ends in .zip",
      default: ".",
    },
    zip: { summary: "write an archive instead of a folder" },
    force: { summary: "replace the whole folder or file" },
  },
  async run({ values, operands: [wanted], json, terminal, signal, open }) {
    const { output, force } = values;
    const isFile = /\.(zip|skill)$/i.test(basename(output));
    const kind = isFile || values.zip ? "archive" : "folder";
    const place = await open();
    const { id } = await place.find(wanted!);
    const version = await place.version(id, values.version);
    const name = checkName(version.name);
    const target = resolve(isFile ? output : join(output, kind === "archive" ? `${name}.zip` : name));
    // Checked before the download.
    checkTarget(target, kind, force);
    const archive = await place.archive(id, version.id);
    const [files, size] = await withProgressBar("pulling", terminal, async (progress) => {
      if (kind === "archive") {
        progress.begin(archive.length);
        const chunks = checkZip(metered(archive.chunks, progress));
        return [null, await writeArchive(target, chunks, force, signal)] as const;
      }
      const unpacked = await unpackSkill(archive, progress);
      await writeFolder(target, unpacked, force, signal);
      return [unpacked.length, unpacked.reduce((sum, { bytes }) => sum + bytes.length, 0)] as const;
    });
    if (json) {
      return printJson({ id, version: version.id, name, path: target, files, size_bytes: size });
    }
    const what = files === null ? `${size} bytes` : files === 1 ? "1 file" : `${files} files`;
    printLine(`Wrote ${what} of ${name} (${printableText(version.id)}) to ${target}`);
  },
});

/** The name as the name of a folder. @throws {Error} for one that leads to another folder, or is hidden */
function checkName(name: string): string {
  const checked = checkPath(name);
  if ("path" in checked && !checked.path.includes("/") && !name.startsWith(".")) return checked.path;
  throw new Error(`The skill's name cannot be the name of a folder: "${printableText(name, 100)}"`);
}

async function* checkZip(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let head = new Uint8Array();
  for await (const chunk of chunks) {
    if (head.length < 4) {
      head = Uint8Array.from([...head, ...chunk.subarray(0, 4 - head.length)]);
      if (head.length === 4 && !isZip(head)) break;
    }
    yield chunk;
  }
  if (!isZip(head)) throw new Error("The response is not a zip archive");
}
