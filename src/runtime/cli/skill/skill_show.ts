/**
 * `trivet skill show`: a skill, one of its versions with files, digests and token estimates, and which versions there are.
 *
 * @module
 */
import { readSkillMarkdown } from "../../../skills/package/front_matter.ts";
import { mediaTypeOf } from "../../../skills/package/media_type_of.ts";
import { digestOf } from "../../../skills/content_digest.ts";
import { estimateLevels } from "../../../skills/package/tokens.ts";
import { printLine, textOption, UsageError } from "../output.ts";
import { plainText } from "../plain_text.ts";
import { showBytes, type Terminal, withProgressBar } from "../progress_bar.ts";
import { unpackSkill } from "./skill_archive.ts";
import type { SkillCommand } from "./skill_command.ts";
import type { ListedSkill, ListedVersion, Manifest, SkillPlace } from "./skill_place.ts";

/** Versions that are shown to people; programs get all of them. */
const MOST_VERSIONS = 10;

export const show: SkillCommand = {
  operands: "ID|NAME",
  most: 1,
  options: { version: { type: "string" } },
  async run({ values, operands: [wanted], json, terminal, open }) {
    if (wanted === undefined) throw new UsageError("Name the skill to show");
    const place = await open();
    const skill = await place.find(wanted);
    const name = textOption(values, "version") ?? "latest";
    const version = skill.latest_version_id === null && name === "latest"
      ? undefined
      : await place.version(skill.id, name);
    const manifest = version && (await place.manifest(skill.id, version.id) ??
      await readManifest(place, skill.id, version, terminal));
    const versions = await Array.fromAsync(place.versions(skill.id));
    const described = {
      ...skill,
      name: skill.name ?? version?.name ?? null,
      description: version?.description ?? skill.description,
    };
    if (json) {
      return printLine(JSON.stringify({
        ...described,
        version: version ? { ...version, ...manifest } : null,
        versions,
      }));
    }
    for (const line of describeSkill(described, version, manifest, versions)) printLine(line);
  },
};

/** What only the archive of a version tells. */
async function readManifest(
  place: SkillPlace,
  id: string,
  { id: version, name, description }: ListedVersion,
  terminal: Terminal | undefined,
): Promise<Manifest> {
  const archive = await place.archive(id, version);
  const files = await withProgressBar("reading", terminal, (progress) => unpackSkill(archive, progress));
  const markdown = readSkillMarkdown(files.find(({ path }) => path === "SKILL.md")!.bytes);
  const body = "body" in markdown ? markdown.body : "";
  return {
    tokens: estimateLevels(name, description, body),
    files: await Promise.all(files.map(async ({ path, bytes }) => ({
      path,
      size: bytes.length,
      type: mediaTypeOf(path, bytes),
      digest: await digestOf(bytes),
    }))),
  };
}

function describeSkill(
  skill: ListedSkill,
  version: ListedVersion | undefined,
  manifest: Manifest | undefined,
  versions: readonly ListedVersion[],
): string[] {
  const row = (name: string, value: string) => `  ${name.padEnd(12)}${value}`;
  const lines = [`${plainText(skill.name ?? skill.display_name ?? "-")}  ${plainText(skill.id)}`];
  lines.push(row("label", plainText(skill.display_name ?? "-")));
  lines.push(row("source", plainText(skill.source)));
  lines.push(row("created", plainText(skill.created_at)));
  lines.push(row("updated", plainText(skill.updated_at)));
  lines.push(row("description", plainText(skill.description ?? "-")));
  if (!version || !manifest) return [...lines, row("version", "none is left")];
  const { tokens, files } = manifest;
  const isNewest = version.id === skill.latest_version_id;
  lines.push(
    row(
      "version",
      `${plainText(version.id)}${isNewest ? ", the newest" : ""}, of ${plainText(version.created_at)}`,
    ),
  );
  lines.push(row("tokens", `about ${tokens.metadata} always, ${tokens.instructions} more when it is loaded`));
  const size = files.reduce((sum, { size }) => sum + size, 0);
  lines.push(row("files", `${files.length}, ${showBytes(size)}`));
  const widest = files.reduce((most, { size }) => Math.max(most, showBytes(size).length), 0);
  for (const { path, size, digest } of files) {
    lines.push(`    ${showBytes(size).padStart(widest)}  ${plainText(digest)}  ${plainText(path)}`);
  }
  lines.push(row("versions", String(versions.length)));
  for (const { id, created_at } of versions.slice(0, MOST_VERSIONS)) {
    lines.push(`    ${plainText(id)}  ${plainText(created_at)}`);
  }
  const more = versions.length - MOST_VERSIONS;
  if (more > 0) lines.push(`    and ${more} more: trivet skill versions ${plainText(skill.id)}`);
  return lines;
}
