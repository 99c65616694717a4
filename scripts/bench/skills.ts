/**
 * `npm run bench -- --skills`: measures how the number of stored skills affects calls, how fast uploads are, and how much
 * memory they use.
 *
 * @module
 */
import process from "node:process";
import { measure, printResults, type Result } from "./harness.ts";
import { createInProcessSubjects, FLOOR_GET } from "./in_process.ts";
import { startSkillSubjects } from "./skill_lists.ts";
import { isWithinLimit, measureUploadMemory, type MemoryResult } from "./skill_memory.ts";
import { measureUploads } from "./skill_uploads.ts";

export interface SkillResults {
  readonly lists: readonly Result[];
  readonly uploads: readonly Result[];
  readonly memory: readonly MemoryResult[];
}

/** Prints three tables. @param only selects calls, engines and kinds of uploads by a part of their names */
export async function measureSkills(
  rounds: number,
  slice: number,
  scale: number,
  only?: string,
): Promise<SkillResults> {
  // First, since V8 marks the whole heap during uploads: the stores of the lists would be part of it.
  // Each is several uploads. Fewer rounds have no interval.
  const uploads = await measureUploads(Math.max(6, Math.ceil(rounds / 2)), only);
  const lists = await measureLists(rounds, slice, scale, only);
  const memory = await measureUploadMemory(only);
  if (!memory.every(isWithinLimit)) process.exitCode = 1;
  return { lists, uploads, memory };
}

async function measureLists(
  rounds: number,
  slice: number,
  scale: number,
  only: string | undefined,
): Promise<Result[]> {
  const floor = createInProcessSubjects(1).filter(({ name }) => name === FLOOR_GET);
  const { subjects, stop } = await startSkillSubjects(scale, only);
  try {
    if (subjects.length === 0) return [];
    const results = await measure([...floor, ...subjects], rounds, slice);
    printResults("Skills in process", results);
    return results;
  } finally {
    await stop();
  }
}
