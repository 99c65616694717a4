/**
 * `npm run release`: builds, checks and packs the packages `trivet` and `trivet-conformance` into `release/`, with
 * checksums, bills of materials and a provenance statement. `npm run release -- 0.2.0` sets the version first, writes its
 * section of CHANGELOG.md and commits both. It publishes nothing: it prints the commands that do.
 *
 * @module
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { addVersion, hasVersion, newestVersion } from "./changelog.ts";
import { buildAndPack, digest, findDifferences, measure, run } from "./pack.ts";
import { toPublicAddress, writeProvenance } from "./provenance.ts";
import { writeSbom } from "./sbom.ts";
import { readVersions, writeVersions } from "./versions.ts";

const OUT = "release";
const HELP = `Usage: npm run release -- [VERSION] [--kit VERSION] [--allow-changes]

Without VERSION, builds and checks the packages of the current commit.
  VERSION            set this version, write its section of CHANGELOG.md, and commit both
  --kit VERSION      the same for the conformance kit, whose CHANGELOG.md you write
  --allow-changes    build although files are not committed; the provenance names no commit then

The result is in ${OUT}/. Nothing is published.`;

const { values, positionals } = parseArgs({
  options: {
    kit: { type: "string" },
    "allow-changes": { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
  allowPositionals: true,
});

try {
  if (values.help) console.log(HELP);
  else await release(positionals, values.kit, values["allow-changes"]);
} catch (error) {
  console.error(`release: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}

async function release([version, ...others]: string[], kit: string | undefined, allowChanges: boolean) {
  if (others.length > 0) throw new Error(`unexpected argument "${others[0]}": see --help`);
  const changes = listUncommitted();
  if (changes !== "" && !allowChanges) {
    throw new Error(`commit your changes first, or add --allow-changes:\n${changes}`);
  }
  if (version !== undefined || kit !== undefined) {
    if (changes !== "") throw new Error("a new version needs a checkout without uncommitted changes");
    setVersions(version, kit);
  }
  const versions = readVersions();
  for (const [file, name] of [["CHANGELOG.md", "trivet"], ["conformance/CHANGELOG.md", "kit"]] as const) {
    if (!hasVersion(readFileSync(file, "utf8"), versions[name])) {
      throw new Error(`${file} has no section "## ${versions[name]}"`);
    }
  }
  const commit = changes === "" ? run("git", ["rev-parse", "HEAD"]).trim() : undefined;

  rmSync(OUT, { recursive: true, force: true });
  const artifacts = buildAndPack(".", OUT);
  for (const line of measure(OUT, artifacts)) console.log(line);
  if (commit === undefined) {
    console.log("not compared with a second build: files are not committed");
  } else {
    const differing = findDifferences(commit, artifacts);
    if (differing.length > 0) throw new Error(`a second build differs: ${differing.join(", ")}`);
    console.log(`a second build of commit ${commit.slice(0, 12)} has the same digests`);
  }

  const [trivetFile, kitFile] = artifacts.map(({ name }) => resolve(OUT, name));
  const { checkPackages } = await import("./check_packages.ts");
  await checkPackages({ trivet: trivetFile!, kit: kitFile! });

  const time = commit === undefined
    ? new Date()
    : new Date(run("git", ["show", "-s", "--format=%cI", commit]).trim());
  const created = `${time.toISOString().slice(0, 19)}Z`;
  const boms = ["dist", "dist-conformance"].map((built, i) => {
    const { name, sha256 } = artifacts[i]!;
    return writeJson(name.replace(/\.tgz$/, ".spdx.json"), writeSbom(built, created, sha256));
  });
  const provenance = writeJson(
    "provenance.json",
    writeProvenance({
      artifacts,
      commit,
      repository: commit && readRepository(),
      lockDigest: digest("package-lock.json", "sha256"),
      builder: process.env.TRIVET_BUILDER || "urn:trivet:builder:unidentified",
      tools: { node: process.versions.node, npm: run("npm", ["--version"]).trim() },
    }),
  );
  const files = [...artifacts.map(({ name }) => name), ...boms, provenance];
  const sums = files.map((file) => `${digest(join(OUT, file), "sha256")}  ${file}\n`).join("");
  writeFileSync(join(OUT, "SHA256SUMS"), sums);
  console.log(`\n${sums}`);
  console.log("Nothing is published. To publish:");
  if (commit !== undefined) console.log(`  git tag v${versions.trivet} ${commit.slice(0, 12)}`);
  for (const { name } of artifacts) console.log(`  npm publish ./${OUT}/${name} --access public`);
}

function writeJson(name: string, value: object): string {
  writeFileSync(join(OUT, name), JSON.stringify(value, null, 2) + "\n");
  return name;
}

/** What is not committed, one file a line; a sentence outside a repository. */
function listUncommitted(): string {
  try {
    return run("git", ["status", "--porcelain"]).trimEnd();
  } catch {
    return "this folder is not a git repository";
  }
}

/** The https address of the remote `origin`, for the provenance. */
function readRepository(): string | undefined {
  const remotes = run("git", ["remote", "-v"]);
  const origin = /^origin\t(\S+)/m.exec(remotes)?.[1];
  return origin === undefined ? undefined : toPublicAddress(origin);
}

/** Sets versions, writes the changelog, and commits. */
function setVersions(version: string | undefined, kit: string | undefined): void {
  const changelog = readFileSync("CHANGELOG.md", "utf8");
  const files = writeVersions({
    ...(version !== undefined && { trivet: version }),
    ...(kit !== undefined && { kit }),
  });
  if (version !== undefined) {
    const date = new Date().toISOString().slice(0, 10);
    writeFileSync("CHANGELOG.md", addVersion(changelog, version, date, listSubjects(changelog)));
    files.push("CHANGELOG.md");
  }
  const names = [version !== undefined && `trivet ${version}`, kit !== undefined && `kit ${kit}`];
  run("git", ["commit", "--quiet", "-m", `release: set ${names.filter(Boolean).join(", ")}`, "--", ...files]);
}

/** Subjects of the commits since the newest version of the changelog, oldest first. */
function listSubjects(changelog: string): string[] {
  const newest = newestVersion(changelog);
  if (newest === undefined) return [];
  const tags = run("git", ["tag", "--list", `v${newest}`]).trim();
  // Without a tag: the commit that added the section.
  const added = ["log", "--format=%H", `-S## ${newest}`, "--", "CHANGELOG.md"];
  const since = tags !== "" ? `v${newest}` : run("git", added).trim().split("\n").at(-1)!;
  if (since === "") return [];
  const log = run("git", ["log", "--no-merges", "--reverse", "--format=%s", `${since}..HEAD`]);
  return log.split("\n").filter((subject) => subject !== "" && !subject.startsWith("release: set "));
}
