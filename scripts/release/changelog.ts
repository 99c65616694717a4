/**
 * CHANGELOG.md: a section for each version. What people wrote under "Unreleased" stays on top of the section, followed by
 * the commits since the version before, grouped by area.
 *
 * @module
 */

const UNRELEASED = "## Unreleased";

/** Sections of the changelog in their order, with the areas of commits that belong to each. */
const SECTIONS: readonly (readonly [title: string, areas: RegExp])[] = [
  ["Authorization server", /^(oauth|protect|crypto)\b/],
  ["MCP server", /^(mcp|jsonrpc|json_schema)\b/],
  ["Skills", /^skills?\b/],
  ["Administration", /^admin\b/],
  ["Command line", /^(cli|serve|doctor|upgrade)\b/],
  ["Logs, audit, metrics", /^(observability|telemetry|audit)\b/],
  ["Stores", /^(stores?|sqlite|postgres|redis|memory|d1)\b/],
  ["Runtimes and HTTP", /^(runtime|http|node|deno|bun|workerd|lambda|trivet|server)\b/],
  ["Deployment and packages", /^(deploy|docker|release|package|build|examples)\b/],
  ["Documentation", /^(docs|readme|reference)\b/i],
  ["Conformance kit", /^(kit|vectors|sets|conformance)\b/],
];

/** Writes the lists of a section from subjects such as `oauth: check the nonce`. Commits of tests and tools are left out. */
export function listChanges(subjects: readonly string[]): string {
  const lists = SECTIONS.map(([title]) => ({ title, items: [] as string[] }));
  for (const subject of subjects) {
    const [, area = "", text = ""] = /^([^:]+): (.+)$/.exec(subject) ?? [];
    const index = SECTIONS.findIndex(([, areas]) => areas.test(area));
    if (index < 0 || text === "") continue;
    const item = `- ${text[0]!.toUpperCase()}${text.slice(1)}`;
    if (!lists[index]!.items.includes(item)) lists[index]!.items.push(item);
  }
  return lists.filter(({ items }) => items.length > 0)
    .map(({ title, items }) => `### ${title}\n\n${items.join("\n")}\n`).join("\n");
}

/**
 * Turns the section "Unreleased" into the section of a version, and begins a new one.
 * @param date such as `2026-11-23`
 * @throws {Error} if the changelog has the version already, or has no section "Unreleased"
 */
export function addVersion(
  changelog: string,
  version: string,
  date: string,
  subjects: readonly string[],
): string {
  if (hasVersion(changelog, version)) throw new Error(`CHANGELOG.md has a section ${version} already`);
  const start = changelog.indexOf(`${UNRELEASED}\n`);
  if (start < 0) throw new Error(`CHANGELOG.md must have a section "${UNRELEASED}"`);
  const next = changelog.indexOf("\n## ", start + UNRELEASED.length);
  const end = next < 0 ? changelog.length : next + 1;
  const written = changelog.slice(start + UNRELEASED.length, end).trim();
  const parts = [written, listChanges(subjects).trim()].filter((part) => part !== "");
  const section = [`## ${version} (${date})`, ...parts].join("\n\n");
  const after = changelog.slice(end);
  return `${changelog.slice(0, start)}${UNRELEASED}\n\n${section}\n${after === "" ? "" : `\n${after}`}`;
}

/** Whether the changelog has a section of the version. */
export function hasVersion(changelog: string, version: string): boolean {
  return changelog.split("\n").some((line) => line === `## ${version}` || line.startsWith(`## ${version} (`));
}

/** The newest version that has a section; `undefined` before the first. */
export function newestVersion(changelog: string): string | undefined {
  return /^## (\d+\.\d+\.\d+\S*)/m.exec(changelog)?.[1];
}
