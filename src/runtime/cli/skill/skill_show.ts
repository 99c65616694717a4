/**
 * `trivet skill show`: a skill, one version with files, digests and token estimates, and the list of its versions.
 *
 * @module
 */
import { bodyOf } from "../../../skills/package/markdown_parts.ts";
import { mediaTypeOf } from "../../../skills/package/media_type_of.ts";
import { digestOf } from "../../../skills/content_digest.ts";
import { estimateLevels } from "../../../skills/package/tokens.ts";
import { printJson, printLine } from "../output.ts";
import { printableText } from "../printable_text.ts";
import { formatBytes, type Terminal, withProgressBar } from "../progress_bar.ts";
import { unpackSkill } from "./skill_archive.ts";
import { type SkillCommand, skillCommand, VERSION_OPTION } from "./skill_command.ts";
import type { ListedSkill, ListedVersion, Manifest, SkillPlace } from "./skill_place.ts";

/** Versions that are printed for people; JSON has all of them. */
const MAX_SHOWN_VERSIONS = 10;

export const show: SkillCommand = skillCommand({
  operands: "ID|NAME",
  summary: "shows a skill and one of its versions",
  options: { version: VERSION_OPTION },
  async run({ values, operands: [wanted], json, terminal, open }) {
    const place = await open();
    const skill = await place.find(wanted!);
    const name = values.version;
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
      return printJson({
        ...described,
        version: version ? { ...version, ...manifest } : null,
        versions,
      });
    }
    for (const line of describeSkill(described, version, manifest, versions)) printLine(line);
  },
});

/** The contents of a version, from its archive. */
async function readManifest(
  place: SkillPlace,
  id: string,
  { id: version, name, description }: ListedVersion,
  terminal: Terminal | undefined,
): Promise<Manifest> {
  const archive = await place.archive(id, version);
  const files = await withProgressBar("reading", terminal, (progress) => unpackSkill(archive, progress));
  const body = bodyOf(files.find(({ path }) => path === "SKILL.md")!.bytes);
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
  const lines = [`${printableText(skill.name ?? skill.display_name ?? "-")}  ${printableText(skill.id)}`];
  lines.push(row("label", printableText(skill.display_name ?? "-")));
  lines.push(row("source", printableText(skill.source)));
  lines.push(row("created", printableText(skill.created_at)));
  lines.push(row("updated", printableText(skill.updated_at)));
  lines.push(row("description", printableText(skill.description ?? "-")));
  if (!version || !manifest) return [...lines, row("version", "-")];
  const { tokens, files } = manifest;
  const isNewest = version.id === skill.latest_version_id;
  lines.push(
    row(
      "version",
      `${printableText(version.id)}${isNewest ? ", the newest" : ""}, of ${
        printableText(version.created_at)
      }`,
    ),
  );
  lines.push(row("tokens", `about ${tokens.metadata} always, ${tokens.instructions} more when it is loaded`));
  const size = files.reduce((sum, { size }) => sum + size, 0);
  lines.push(row("files", `${files.length}, ${formatBytes(size)}`));
  const widest = files.reduce((width, { size }) => Math.max(width, formatBytes(size).length), 0);
  for (const { path, size, digest } of files) {
    lines.push(`    ${formatBytes(size).padStart(widest)}  ${printableText(digest)}  ${printableText(path)}`);
  }
  lines.push(row("versions", String(versions.length)));
  for (const { id, created_at } of versions.slice(0, MAX_SHOWN_VERSIONS)) {
    lines.push(`    ${printableText(id)}  ${printableText(created_at)}`);
  }
  const more = versions.length - MAX_SHOWN_VERSIONS;
  if (more > 0) lines.push(`    and ${more} more: trivet skill versions ${printableText(skill.id)}`);
  return lines;
}
