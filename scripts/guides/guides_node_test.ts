/**
 * Every guide in `docs/`, run as its reader would run it, and what the runner refuses.
 *
 * @module
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skipBecause } from "../test/run_files.ts";
import { buildPackages, type Packages, ROOT } from "./newcomer.ts";
import { findGuides, findMissing, readGuide, runGuideOf } from "./guides.ts";
import { parseGuide } from "./parse_guide.ts";
import { runGuide } from "./run_guide.ts";

const test = suite("guides");
/** Blocks that are not run, in a guide. */
const MAX_UNTESTED = 3;
let packages: Packages;

/** What the runner says about a guide. */
async function fail(markdown: string): Promise<string> {
  try {
    await runGuide(parseGuide(markdown), packages.newFolder());
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

const block = (info: string, text: string) => "```" + `${info}\n${text}\n` + "```\n";

if ("Deno" in globalThis || "Bun" in globalThis) skipBecause(test, "the guides use Node");
else {
  test.before(() => void (packages = buildPackages()));
  test.after(() => packages.remove());
  addRunnerTests();
  await addGuides();
}

test("every link between the pages and to the repository leads to a file", () => {
  for (const name of [...findGuides(), "README"]) {
    const text = readFileSync(join(ROOT, "docs", `${name}.md`), "utf8");
    for (const [, target] of text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)) {
      if (!/^https?:/.test(target!)) assert.ok(existsSync(join(ROOT, "docs", target!)), `${name}: ${target}`);
    }
  }
});

function addRunnerTests(): void {
  test("the runner fails for a command that fails, one that should, and an output that does not appear", async () => {
    assert.is(await fail(block("sh", "a=1") + block("sh", "echo $a") + block("text", "1")), "");
    assert.match(await fail(block("sh", "false\necho on")), "line 1: failed (1)");
    assert.match(await fail(block("sh", "false | true")), "line 1: failed (1)");
    assert.is(await fail(block("sh fails", "false")), "");
    assert.match(await fail(block("sh fails", "true")), "line 1: did not fail");
    assert.match(await fail(block("sh", "echo one") + block("text", "two")), "did not print");
    assert.match(await fail(block("sh", "exit 3") + block("sh", "true")), "line 1: failed");
  });

  test("the runner waits for a command in the background, stops it, and reports one that ends", async () => {
    const server = block("sh background", "echo ready; sleep 60") + block("text", "ready");
    assert.is(await fail(server + "<!-- test: stop -->\n"), "");
    assert.match(await fail(block("sh background", "echo no") + block("text", "ready")), "line 1: ended (0)");
    assert.match(await fail(block("sh background", "true")), "show what the command prints");
    const failing = block("sh background", "trap 'exit 3' INT; echo ready; sleep 60 & wait");
    assert.match(
      await fail(failing + block("text", "ready") + "<!-- test: stop -->\n"),
      "ended with 3",
    );
  });

  test("the package is installed only where the guide installs it", async () => {
    const use = block("sh", "node -e 'import(\"trivet\")'");
    assert.match(await fail(use), "ERR_MODULE_NOT_FOUND");
    assert.is(await fail(block("sh", "npm install trivet") + use), "");
    assert.match(
      await fail(block("sh", "npm install trivet\nnode -e 'import(\"valibot\")'")),
      "Cannot find package",
    );
  });
}

async function addGuides(): Promise<void> {
  for (const name of findGuides()) {
    const guide = readGuide(name);
    test(`${name}: most blocks are run`, () => {
      assert.ok(guide.untested <= MAX_UNTESTED, `${guide.untested} are not`);
      assert.ok(guide.steps.some(({ kind }) => kind === "run"));
    });
    const missing = await findMissing(guide);
    if (missing === undefined) test(name, () => runGuideOf(guide, packages));
    else skipBecause(test, `docs/${name}.md needs ${missing}`);
  }
}

test.run();
