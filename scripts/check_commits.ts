/**
 * Checks commit subjects: an area, then an imperative, at most 65 characters. Older commits are not checked.
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import type { Finding } from "./check_imports.ts";

/** Only commits after this time are checked. */
const SINCE = "2026-11-22T18:00:00Z";
const MAX_SUBJECT_CHARACTERS = 65;

/** Finds invalid subjects of new commits. Finds none outside a git repository. */
export function checkCommits(root: string): Finding[] {
  const { status, stdout } = spawnSync("git", ["log", `--since=${SINCE}`, "--no-merges", "--format=%h %s"], {
    cwd: root,
    encoding: "utf8",
  });
  if (status !== 0) return [];
  return stdout.split("\n").filter((line) => line !== "").flatMap((line) => {
    const [hash = "", ...words] = line.split(" ");
    const message = findSubjectProblem(words.join(" "));
    return message === undefined ? [] : [{ file: `commit ${hash}`, line: 1, rule: "commit", message }];
  });
}

/** Returns the problem of one subject, or `undefined` if it is valid. */
export function findSubjectProblem(subject: string): string | undefined {
  if (subject.length > MAX_SUBJECT_CHARACTERS) {
    return `the subject has ${subject.length} characters: at most ${MAX_SUBJECT_CHARACTERS}`;
  }
  const verb = /^[a-z0-9_/. ,-]+: ([a-z]+)\b/i.exec(subject)?.[1];
  if (verb === undefined) return 'the subject must name its area first: "oauth: check the nonce"';
  if (/(?:ed|ing)$/.test(verb) && !/^(?:bring|embed|feed|need|seed|shed|speed)$/i.test(verb)) {
    return `the subject must be an imperative, not "${verb}"`;
  }
  return undefined;
}
