/**
 * Reads a skill's archive into memory, under a limit, and unpacks it only when every path in it stays inside the skill.
 *
 * @module
 */
import { ByteBuffer } from "../../../http/body/byte_buffer.ts";
import { findLayout } from "../../../skills/package/layout.ts";
import type { SentFile } from "../../../skills/package/sent_file.ts";
import { isZip, readZip } from "../../../skills/archive/zip_reader.ts";
import { metered, type Progress } from "../progress_bar.ts";
import type { Archive } from "./skill_place.ts";
import { describeProblems, toReported } from "./skill_problems.ts";

/** Packed or unpacked. */
const MAX_SKILL_BYTES = 256 * 1024 * 1024;

/** The files of an archive, with their paths in the skill. @throws {Error} for an invalid or unsafe archive */
export async function unpackSkill(
  { length, chunks }: Archive,
  progress: Progress,
): Promise<readonly SentFile[]> {
  progress.begin(length);
  const received = new ByteBuffer();
  for await (const chunk of metered(chunks, progress)) {
    if (received.length + chunk.length > MAX_SKILL_BYTES) {
      throw new Error(`The skill is larger than ${MAX_SKILL_BYTES} bytes`);
    }
    received.append(chunk);
  }
  const bytes = received.take();
  if (!isZip(bytes)) throw new Error("The response is not a zip archive");
  const { files, problems } = await findLayout(await readZip(bytes, MAX_SKILL_BYTES), {});
  if (problems.length > 0) {
    throw new Error(
      [
        "The archive is not a valid skill and was not unpacked:",
        ...describeProblems(problems.map(toReported)),
      ].join("\n"),
    );
  }
  return files;
}
