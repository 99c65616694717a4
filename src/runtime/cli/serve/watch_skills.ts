/**
 * Watches local skills while a server runs: prints once what is not served, and notifies clients of the tool server when
 * the list of skills changes, or a file that they subscribed to.
 *
 * @module
 */
import { clearTimeout, setTimeout } from "node:timers";
import { writeSkillUri } from "../../../mcp/skills/skill_uri.ts";
import type { Trivet } from "../../../trivet.ts";
import { printError } from "../output.ts";

/** The least time between polls. */
const POLL_INTERVAL_MS = 2000;
/** The time between polls is at least so many times the time of a poll: many skills take long to read. */
const MIN_PAUSE_RATIO = 50;
/** Names in one line. */
const MAX_NAMES = 8;

type Skills = NonNullable<Trivet["skills"]>;

/**
 * Reads the skills now, and then again and again. Failures are not printed: requests meet them too, and report them.
 * @param print gets each message once, without a line end
 * @returns after the first poll, the function that stops it
 */
export async function watchSkills(
  trivet: Trivet,
  print: (message: string) => void = (message) => printError(`trivet: ${message}`),
): Promise<() => void> {
  const { skills, mcp } = trivet;
  if (!skills) return () => {};
  let printed: ReadonlySet<string> = new Set();
  let listed: string | undefined;
  let seen: ReadonlyMap<string, string> = new Map();
  let isStopped = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function poll(): Promise<void> {
    const lines = await describeDiagnostics(skills!);
    for (const line of lines) if (!printed.has(line)) print(line);
    printed = new Set(lines);
    const { list, files } = await listSkills(skills!);
    if (listed !== undefined && list !== listed) await mcp?.listChanged("resources");
    for (const [uri, content] of files) {
      const before = seen.get(uri);
      if (before !== undefined && before !== content) await mcp?.resourceUpdated(uri);
    }
    listed = list;
    seen = files;
  }

  async function pollAgain(): Promise<void> {
    const started = performance.now();
    await poll().catch(() => {});
    if (isStopped) return;
    timer = setTimeout(
      pollAgain,
      Math.max(POLL_INTERVAL_MS, MIN_PAUSE_RATIO * (performance.now() - started)),
    );
    timer.unref();
  }

  await pollAgain();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}

/** A line for each skill that is not served, and one for all that are served with notes. */
async function describeDiagnostics(skills: Skills): Promise<string[]> {
  const diagnostics = await skills.diagnostics();
  const lines = diagnostics
    .filter(({ skipped }) => skipped)
    .map(({ where, message }) => `skipped ${where}: ${message}`);
  const noted = diagnostics.filter(({ skipped }) => !skipped).map(({ where }) => where);
  if (noted.length === 0) return lines;
  const names = noted.slice(0, MAX_NAMES).join(", ");
  const more = noted.length > MAX_NAMES ? ` and ${noted.length - MAX_NAMES} more` : "";
  return [...lines, `notes on ${names}${more}: run "trivet skill doctor" to read them`];
}

/** Local skills as the tool server lists them, and a fingerprint of each file by its URI. */
async function listSkills(skills: Skills): Promise<{ list: string; files: Map<string, string> }> {
  const files = new Map<string, string>();
  // A skill without valid front matter is not a resource.
  const listed = (await skills.localSkills()).filter(({ frontMatter }) => frontMatter !== undefined);
  for (const skill of listed) {
    for (const { path, size, digest } of skill.files) {
      files.set(writeSkillUri([skill.name, ...path.split("/")]), digest ?? String(size));
    }
  }
  return { list: JSON.stringify(listed.map(({ name, description }) => [name, description])), files };
}
