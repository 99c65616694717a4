/**
 * Skills in local folders: served from where they are, never copied to the store, and read again when they change. Of two
 * skills with one name the first folder's is served. A local skill takes precedence over an uploaded one.
 *
 * @module
 */
import { type FolderEntry, FolderError, type SkillFolder } from "./folder.ts";
import { keepFresh } from "./fresh.ts";
import { createReader, type LocalRead, type LocalSkill } from "./local_skill.ts";
import { findBadLink, findMisplaced } from "./near_miss.ts";
import { collisionKey } from "../package/path.ts";
import { describe, type Problem } from "../package/problem.ts";

export type { LocalSkill } from "./local_skill.ts";

/** A problem in a local folder. */
export interface Diagnostic {
  readonly where: string;
  /** The problems as one text. */
  readonly message: string;
  readonly problems: readonly Problem[];
  /** Whether the skill is not served. */
  readonly skipped: boolean;
}

export interface Directory {
  /** All skills, sorted by name; of two with one name the first folder's. */
  skills(): Promise<readonly LocalSkill[]>;
  diagnostics(): Promise<readonly Diagnostic[]>;
}

/** A call scans the folders again if the last scan is older. */
const SCAN_LIFETIME_MS = 1000;
/** Skills of one folder. */
const MAX_SKILLS = 2000;
/** Skills that are read at the same time: most of the time is spent waiting for the disk. */
const MAX_CONCURRENT_READS = 16;

interface Scan {
  readonly skills: readonly LocalSkill[];
  readonly diagnostics: readonly Diagnostic[];
}

/** An entry of a skills folder. */
interface Candidate {
  readonly folder: SkillFolder;
  readonly entry: FolderEntry;
  readonly where: string;
  /** The reason if it is not read. */
  readonly problem: Problem | undefined;
}

/** Opens folders in order of precedence. @param now milliseconds since the epoch */
export function openDirectory(folders: readonly SkillFolder[], now: () => number): Directory {
  const read = createReader();
  let known: ReadonlyMap<string, LocalRead> = new Map();

  async function scanAll(): Promise<Scan> {
    const { candidates, diagnostics } = await findCandidates(folders);
    const reads = await mapConcurrently(
      MAX_CONCURRENT_READS,
      candidates,
      ({ folder, entry, where, problem }) =>
        problem ? Promise.resolve(undefined) : read(folder, entry, known.get(where)),
    );
    known = new Map(reads.flatMap((read, i) => read ? [[candidates[i]!.where, read]] : []));
    const byName = new Map<string, LocalSkill>();
    candidates.forEach(({ where, problem }, i) => {
      const { skill, problems = [] } = reads[i] ?? {};
      const taken = skill && byName.get(collisionKey(skill.name));
      const all = taken ? [...problems, refuseName(skill, taken)] : problem ? [problem] : problems;
      if (skill && !taken) byName.set(collisionKey(skill.name), skill);
      if (all.length > 0) diagnostics.push(diagnose(where, all, !skill || taken !== undefined));
    });
    return { skills: [...byName.values()].sort((a, b) => a.name < b.name ? -1 : 1), diagnostics };
  }

  const scan = keepFresh(SCAN_LIFETIME_MS, now, scanAll);
  return {
    skills: async () => (await scan()).skills,
    diagnostics: async () => (await scan()).diagnostics,
  };
}

/** The entries of all folders, in order of precedence, each location once. */
async function findCandidates(
  folders: readonly SkillFolder[],
): Promise<{ candidates: Candidate[]; diagnostics: Diagnostic[] }> {
  const candidates: Candidate[] = [];
  const diagnostics: Diagnostic[] = [];
  const places = new Set<string>();
  for (const folder of folders) {
    const entries = await listTop(folder, diagnostics);
    // Links come last: a link to a skill of the same folder is that skill.
    const links = entries.filter(({ type }) => type === "link");
    let count = 0;
    for (const entry of [...entries.filter(({ type }) => type !== "link"), ...links]) {
      const where = `${folder.path}/${entry.name}`;
      if (entry.type === "folder" && (entry.name.startsWith(".") || entry.name === "node_modules")) continue;
      const problem = entry.type === "link"
        ? findBadLink(entry, folder.followLinks ?? false)
        : findMisplaced(entry);
      if (!problem && (entry.type === "file" || entry.type === "other")) continue;
      if (!problem) {
        const place = entry.realPath ?? where;
        if (places.has(place)) continue;
        places.add(place);
        if (++count > MAX_SKILLS) {
          const message = `More than ${MAX_SKILLS} folders: those from ${
            JSON.stringify(entry.name)
          } on are skipped`;
          diagnostics.push(diagnose(folder.path, [toProblem("too-many-skills", message)], true));
          break;
        }
      }
      candidates.push({ folder, entry, where, problem });
    }
  }
  // A link that is not followed needs no report if its target is served anyway.
  const isTargetServed = ({ problem, entry: { realPath } }: Candidate): boolean =>
    problem?.rule === "link" && realPath !== undefined && places.has(realPath);
  return { candidates: candidates.filter((each) => !isTargetServed(each)), diagnostics };
}

async function listTop(folder: SkillFolder, diagnostics: Diagnostic[]): Promise<readonly FolderEntry[]> {
  const report = (rule: string, message: string): void =>
    void diagnostics.push(diagnose(folder.path, [toProblem(rule, message)], true));
  try {
    const entries = await folder.list("");
    if (!entries && folder.optional !== true) {
      report("folder-missing", "The folder does not exist");
    }
    return entries ?? [];
  } catch (error) {
    if (!(error instanceof FolderError)) throw error;
    report("unreadable", error.message);
    return [];
  }
}

function refuseName(skill: LocalSkill, { name, folder, directory }: LocalSkill): Problem {
  const message = `Duplicate name: "${name}" is already used by ${folder.path}/${directory}`;
  return {
    ...toProblem(
      "name-taken",
      message + (name === skill.name ? "" : ` ("${skill.name}" differs only in case or accents)`),
    ),
    hint: "rename one of the two, or remove it",
  };
}

function toProblem(rule: string, message: string): Problem {
  return { file: "", line: undefined, rule, message };
}

function diagnose(where: string, problems: readonly Problem[], skipped: boolean): Diagnostic {
  return { where, message: describe(problems), problems, skipped };
}

/** Maps in order, with limited concurrency; rejects with the first failure after all work has ended. */
async function mapConcurrently<Item, Value>(
  maxConcurrent: number,
  items: readonly Item[],
  map: (item: Item) => Promise<Value>,
): Promise<Value[]> {
  const values: Value[] = [];
  let next = 0;
  const workers = Array.from({ length: Math.min(maxConcurrent, items.length) }, async () => {
    while (next < items.length) {
      const i = next++;
      values[i] = await map(items[i]!);
    }
  });
  const failed = (await Promise.allSettled(workers)).find(({ status }) => status === "rejected");
  if (failed) throw (failed as PromiseRejectedResult).reason;
  return values;
}
