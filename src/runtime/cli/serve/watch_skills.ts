/**
 * What becomes of local skills while a server runs: what is not served is told on its console, once, and clients of the
 * tool server hear when the list of skills is another, or a file that they subscribed to.
 *
 * @module
 */
import { clearTimeout, setTimeout } from "node:timers";
import { writeSkillUri } from "../../../mcp/skills/skill_uri.ts";
import type { Trivet } from "../../../trivet.ts";
import { printError } from "../output.ts";

/** Milliseconds between looks, and how many times as long as a look takes at least: a look at many skills costs more. */
const LOOK_EVERY = 2000;
const REST = 50;
/** Names in one line. */
const MOST_NAMES = 8;

type Skills = NonNullable<Trivet["skills"]>;

/**
 * Looks at the skills now, and then again and again. Failures are told by requests, which have them too.
 * @returns after the first look, what ends it
 */
export async function watchSkills(trivet: Trivet): Promise<() => void> {
  const { skills, mcp } = trivet;
  if (!skills) return () => {};
  let told: ReadonlySet<string> = new Set();
  let listed: string | undefined;
  let seen: ReadonlyMap<string, string> = new Map();
  let ended = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function look(): Promise<void> {
    const lines = await describeDiagnostics(skills!);
    for (const line of lines) if (!told.has(line)) printError(line);
    told = new Set(lines);
    const { list, files } = await listSkills(skills!);
    if (listed !== undefined && list !== listed) await mcp?.listChanged("resources");
    for (const [uri, content] of files) {
      const before = seen.get(uri);
      if (before !== undefined && before !== content) await mcp?.resourceUpdated(uri);
    }
    listed = list;
    seen = files;
  }

  async function lookAgain(): Promise<void> {
    const started = performance.now();
    await look().catch(() => {});
    if (ended) return;
    timer = setTimeout(lookAgain, Math.max(LOOK_EVERY, REST * (performance.now() - started)));
    timer.unref();
  }

  await lookAgain();
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}

/** A line for each that is not served, and one for all that are served otherwise than their authors may expect. */
async function describeDiagnostics(skills: Skills): Promise<string[]> {
  const diagnostics = await skills.diagnostics();
  const lines = diagnostics
    .filter(({ skipped }) => skipped)
    .map(({ where, message }) => `trivet: skipped ${where}: ${message}`);
  const noted = diagnostics.filter(({ skipped }) => !skipped).map(({ where }) => where);
  if (noted.length === 0) return lines;
  const names = noted.slice(0, MOST_NAMES).join(", ");
  const more = noted.length > MOST_NAMES ? ` and ${noted.length - MOST_NAMES} more` : "";
  return [...lines, `trivet: note on ${names}${more}: "trivet skill doctor" tells what may be better`];
}

/** Local skills as the tool server lists them, and their files by URI, each with what changes with its content. */
async function listSkills(skills: Skills): Promise<{ list: string; files: Map<string, string> }> {
  const files = new Map<string, string>();
  // What has no proper front matter is no resource.
  const listed = (await skills.localSkills()).filter(({ frontMatter }) => frontMatter !== undefined);
  for (const skill of listed) {
    for (const { path, size, digest } of skill.files) {
      files.set(writeSkillUri([skill.name, ...path.split("/")]), digest ?? String(size));
    }
  }
  return { list: JSON.stringify(listed.map(({ name, description }) => [name, description])), files };
}
