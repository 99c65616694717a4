/**
 * A skill's archive as it comes from a place: in memory under a limit, and unpacked only when every path in it stays where
 * it belongs.
 *
 * @module
 */
import { ByteBuffer } from "../../../http/body/byte_buffer.ts";
import { findLayout } from "../../../skills/package/layout.ts";
import type { SentFile } from "../../../skills/package/sent_file.ts";
import { isZip, readZip } from "../../../skills/archive/zip_reader.ts";
import { metered, type Progress } from "../progress_bar.ts";
import type { Archive } from "./skill_place.ts";
import { problemLines, toReported } from "./skill_problems.ts";

/** Bytes, packed or unpacked. */
const LIMIT = 256 * 1024 * 1024;

/** The files of an archive, by their paths in the skill. @throws {Error} for what is no skill, or not a safe one */
export async function unpackSkill(
  { length, chunks }: Archive,
  progress: Progress,
): Promise<readonly SentFile[]> {
  progress.begin(length);
  const received = new ByteBuffer();
  for await (const chunk of metered(chunks, progress)) {
    if (received.length + chunk.length > LIMIT) throw new Error(`The skill has more than ${LIMIT} bytes`);
    received.append(chunk);
  }
  const bytes = received.take();
  if (!isZip(bytes)) throw new Error("The skill did not come as a zip archive");
  const { files, problems } = await findLayout(await readZip(bytes, LIMIT), {});
  if (problems.length > 0) {
    throw new Error(
      ["The skill is not written to disk:", ...problemLines(problems.map(toReported))].join("\n"),
    );
  }
  return files;
}
