/**
 * `npm run freeze`: adds a frozen set of vectors to `conformance/sets.json`, or amends one after a correction.
 * `--help` prints its options.
 *
 * @module
 */
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { parseArgs } from "node:util";
import { type Amendment, findChanged, readSet, type StoredSet } from "../conformance/runner/report/sets.ts";
import { digestVector } from "../conformance/runner/vector/digest.ts";
import { loadRequirements, loadVectors } from "../conformance/runner/vector/load.ts";
import { selectVectors } from "../conformance/runner/vector/select_vectors.ts";

const FILE = "conformance/sets.json";
const HELP = `Usage: npm run freeze -- NAME SUITE... [--level LEVEL] [--document DOCUMENT]
       npm run freeze -- --amend NAME --reason TEXT [--only VECTOR]

The first form adds a set with the current vectors of the suites, each with the digest of its content. NAME ends
with a date (oauth-2026-12-01). The second form records why vectors of a set changed since it was frozen. A set is
never changed otherwise: a vector with another meaning is a new vector that supersedes the old one.

Options:
  --level MUST|SHOULD|MAY  only vectors of this level or a stronger one
  --document NAME          only vectors that cover a row of this document (repeatable)
  --amend NAME             amend this set
  --reason TEXT            why the vectors changed, for users of the set
  --only TEXT              amend only vectors whose name contains TEXT (repeatable)
  --help                   print this help
`;

const { values, positionals: [name, ...suites] } = readOptions();
const sets: Record<string, StoredSet> = JSON.parse(readFileSync(FILE, "utf8"));
if (values.help) process.stdout.write(HELP);
else if (values.amend !== undefined) amend(values.amend);
else freeze();

function readOptions() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        level: { type: "string" },
        document: { type: "string", multiple: true, default: [] },
        amend: { type: "string" },
        reason: { type: "string" },
        only: { type: "string", multiple: true, default: [] },
        help: { type: "boolean", short: "h", default: false },
      },
    });
  } catch (error) {
    return fail((error as Error).message);
  }
}

function fail(message: string): never {
  process.stderr.write(`${message}\n${HELP}`);
  process.exit(2);
}

function freeze(): void {
  const { level, document: documents } = values;
  if (!name || !/\d{4}-\d{2}-\d{2}$/.test(name) || suites.length === 0) {
    fail("A name with a date and a suite are required.");
  }
  if (Object.hasOwn(sets, name)) {
    fail(`Cannot freeze "${name}": a set with this name exists, and sets are never changed`);
  }
  const vectors = loadVectors("conformance", suites, loadRequirements("conformance"));
  const chosen = selectVectors(vectors, {
    only: [],
    documents,
    slow: true,
    ...(level !== undefined && { level }),
  });
  const digests = chosen.map((each) => [each.name, digestVector(each)] as const);
  sets[name] = { vectors: Object.fromEntries(digests.sort(([one], [other]) => one < other ? -1 : 1)) };
  write(`${name}: ${chosen.length} vectors`);
}

function amend(set: string): void {
  const { reason, only } = values;
  if (reason === undefined || reason.trim() === "") fail("--reason is required: users of the set read it.");
  const frozen = readSet(FILE, set);
  const vectors = loadVectors("conformance", ["all"], loadRequirements("conformance"));
  const changed = findChanged(frozen, selectVectors(vectors, { only, slow: true }))
    .filter((each) => each.reason === undefined);
  const stored = sets[set]!;
  if (Array.isArray(stored) || changed.length === 0) {
    fail(`No vector of "${set}" changed without an amendment.`);
  }
  const date = new Date().toISOString().slice(0, 10);
  const added = changed.map((each): Amendment => ({ vector: each.name, digest: each.digest, date, reason }));
  const { vectors: digests } = stored as Exclude<StoredSet, readonly string[]>;
  // Only the amendment with the present digest of a vector counts.
  const kept = frozen.amendments.filter((each) => !added.some(({ vector }) => vector === each.vector));
  sets[set] = { vectors: digests, amendments: [...kept, ...added] };
  write(`${set}: ${added.length} amendments`);
}

function write(message: string): void {
  writeFileSync(FILE, JSON.stringify(sets, null, 2) + "\n");
  console.log(message);
}
