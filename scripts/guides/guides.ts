/**
 * The guides in `docs/`, and what each needs on the machine where it is tested.
 *
 * @module
 */
import { accessSync, constants, readdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";
import { findEngine } from "../../src/store/test_engines.ts";
import { type Packages, ROOT } from "./newcomer.ts";
import { type Guide, parseGuide } from "./parse_guide.ts";
import { runGuide } from "./run_guide.ts";

/** Pages that are not guides. */
const OTHER_PAGES = new Set(["README.md", "versioning.md"]);
/** Programs that commands of any guide use. */
const ALWAYS_NEEDED = ["bash", "curl", "jq"];
/** The address of the database in guides. */
const POSTGRES = "postgres://trivet@127.0.0.1:5432/trivet";

/** The names of all guides. */
export function findGuides(): string[] {
  return readdirSync(join(ROOT, "docs"))
    .filter((file) => file.endsWith(".md") && !OTHER_PAGES.has(file))
    .map((file) => file.slice(0, -".md".length))
    .sort();
}

/** @throws {Error} with the line, for a guide with a block that is neither a step nor marked as one that is not run */
export function readGuide(name: string): Guide {
  return parseGuide(readFileSync(join(ROOT, "docs", `${name}.md`), "utf8"));
}

/** The first program that a guide needs and this machine lacks. */
export async function findMissing({ needs }: Guide): Promise<string | undefined> {
  for (const program of [...ALWAYS_NEEDED, ...needs]) {
    const isThere = program === "postgres"
      ? await findEngine("postgres") !== undefined
      : isInstalled(program);
    if (!isThere) return program;
  }
  return undefined;
}

/** @throws {Error} with the line of the guide, the command and what it printed */
export async function runGuideOf(guide: Guide, packages: Packages): Promise<void> {
  if (!guide.needs.includes("postgres")) return await runGuide(guide, packages.newFolder());
  const address = (await findEngine("postgres"))!;
  const { default: connect } = await import("postgres");
  const sql = connect(address, { max: 1, onnotice: () => {} });
  const database = `guide_${crypto.randomUUID().replaceAll("-", "")}`;
  try {
    await sql.unsafe(`create database ${database}`);
    const own = new URL(address);
    own.pathname = `/${database}`;
    await runGuide(guide, { ...packages.newFolder(), replacements: new Map([[POSTGRES, own.href]]) });
  } finally {
    await sql.unsafe(`drop database if exists ${database} with (force)`);
    await sql.end();
  }
}

function isInstalled(program: string): boolean {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
