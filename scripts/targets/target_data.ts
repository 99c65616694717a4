/**
 * Reads what is stored beside each third-party server: `findings.json`, checked by hand, and `result.json`, the figures of
 * its last run.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { PROXY_FIGURES, type ProxyFigures } from "../../conformance/mutants/proxy/proxy_figures.ts";

export const TARGETS = "conformance/targets";
/** The folder of Trivet's own result. */
const OWN = "trivet";

export interface Finding {
  readonly kind: "fault" | "departure" | "choice";
  readonly severity?: string;
  readonly title: string;
  readonly rows: string;
  readonly vectors: string;
  readonly sent: string;
  readonly received: string;
  readonly meaning?: string;
}

export interface Server {
  readonly title: string;
  readonly checked: string;
  readonly setup: readonly string[];
  readonly install: readonly string[];
  readonly runs: readonly { readonly suite: string; readonly target: string; readonly label?: string }[];
  readonly strengths: readonly string[];
  readonly remarks?: readonly string[];
  readonly findings: readonly Finding[];
  readonly notes: readonly { readonly title: string; readonly text: readonly string[] }[];
}

/** Rows of one level, of one document if it is known. */
export interface LevelCounts {
  readonly document?: string;
  readonly level: string;
  readonly rows?: number;
  readonly asked: number;
  readonly held: number;
}

export interface StoredRun {
  readonly suite: string;
  readonly target: string;
  readonly name: string;
  readonly version?: string;
  readonly label?: string;
  readonly date: string;
  /** Version of the kit and digest of its vectors. Absent in runs before format 2. */
  readonly kit?: string;
  readonly digest?: string;
  readonly summary: Readonly<Record<string, number>>;
  readonly levels: readonly LevelCounts[];
  /** Names of the vectors whose outcome is `fail`. */
  readonly failing: readonly string[];
}

/** The last replay of the findings with curl. */
export interface Replay {
  readonly date: string;
  /** Digest of the shell files. */
  readonly scripts: string;
  /** The vectors that fail for what was replayed, without their suite. */
  readonly vectors: readonly string[];
}

export interface TargetFolder {
  readonly folder: string;
  readonly servers: readonly Server[];
  readonly runs: readonly StoredRun[];
  /** What the vectors detect on this server, if mutants ran before it. */
  readonly mutants: ProxyFigures | undefined;
  readonly replay: Replay | undefined;
}

/** All folders with findings or results, in the order of their names, Trivet first. */
export function readTargets(): TargetFolder[] {
  const folders = new Set(globSync(`${TARGETS}/*/{findings,result}.json`).map((path) => dirname(path)));
  const rank = (folder: string) => basename(folder) === OWN ? 0 : 1;
  return [...folders].sort((one, other) => rank(one) - rank(other) || (one < other ? -1 : 1)).map((
    folder,
  ) => ({
    folder,
    servers: readList<Server>(join(folder, "findings.json"), "servers"),
    runs: readList<StoredRun>(join(folder, "result.json"), "runs"),
    mutants: readJson<ProxyFigures>(join(folder, PROXY_FIGURES)),
    replay: readJson<{ replay?: Replay }>(join(folder, "result.json"))?.replay,
  }));
}

function readList<Item>(path: string, member: string): readonly Item[] {
  return readJson<Record<string, readonly Item[]>>(path)?.[member] ?? [];
}

function readJson<Value>(path: string): Value | undefined {
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
}

/** The stored result of a run. */
export function readStoredRun(
  folder: string,
  { suite, target }: Pick<StoredRun, "suite" | "target">,
): StoredRun | undefined {
  return readList<StoredRun>(join(folder, "result.json"), "runs").find((each) =>
    each.suite === suite && each.target === target
  );
}

/** Replaces the stored result of a run, or adds it. */
export function storeRun(folder: string, run: StoredRun): void {
  const runs = readList<StoredRun>(join(folder, "result.json"), "runs");
  const isSame = (each: StoredRun) => each.suite === run.suite && each.target === run.target;
  const next = runs.some(isSame) ? runs.map((each) => isSame(each) ? run : each) : [...runs, run];
  updateResult(folder, { runs: next });
}

/** Stores what a replay of the findings covers. @param output of `by_hand.sh` */
export function storeReplay(folder: string, output: string): void {
  const date = new Date().toISOString().slice(0, 10);
  const vectors = [...findReplayed(output)].sort();
  updateResult(folder, { replay: { date, scripts: digestScripts(folder), vectors } });
}

function updateResult(folder: string, change: Readonly<Record<string, unknown>>): void {
  const path = join(folder, "result.json");
  writeFileSync(path, JSON.stringify({ ...readJson<object>(path), ...change }, null, 2) + "\n");
}

/** After each check a script prints, in parentheses, the vectors that fail for it, without their suite. */
export function findReplayed(output: string): ReadonlySet<string> {
  return new Set(output.match(/^(ok|CHANGED) .*/gm)?.flatMap((line) => line.match(/[\w-]+\/[\w-]+/g) ?? []));
}

/** The digest of the shell files of a folder. */
export function digestScripts(folder: string): string {
  const hash = createHash("sha256");
  for (const path of globSync(`${folder}/*.sh`).sort()) hash.update(readFileSync(path));
  return hash.digest("hex").slice(0, 32);
}
