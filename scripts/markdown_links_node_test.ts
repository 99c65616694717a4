import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";

const test = suite("links of the Markdown pages");
const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** Folders whose pages are not ours, or not in the repository. */
const IGNORED = new Set(["node_modules", "fixtures", "data", "dist", "dist-conformance", "release"]);

function findPages(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return IGNORED.has(entry.name) || entry.name[0] === "." ? [] : findPages(path);
    return entry.name.endsWith(".md") ? [path] : [];
  });
}

/** Without blocks and spans of code, whose brackets are no links. */
function readProse(path: string): string {
  return readFileSync(path, "utf8").replace(/^```[^]*?^```/gm, "");
}

/** The anchors of the headings, as renderers of Markdown make them. */
function findAnchors(path: string): Set<string> {
  const found = new Set<string>();
  for (const [, heading] of readProse(path).matchAll(/^#+ (.*)$/gm)) {
    const text = heading!.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const anchor = text.replace(/[^\p{L}\p{N}_ -]/gu, "").trim().replaceAll(" ", "-");
    for (let i = 0;; i++) {
      const own = i === 0 ? anchor : `${anchor}-${i}`;
      if (found.has(own)) continue;
      found.add(own);
      break;
    }
  }
  return found;
}

test("every link to the repository leads to a file, and every anchor to a heading", () => {
  const broken: string[] = [];
  for (const page of findPages(ROOT)) {
    for (const [, link] of readProse(page).replace(/`[^`\n]*`/g, "").matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(link!)) continue;
      const [path, anchor] = link!.split("#");
      let target = path === "" ? page : join(dirname(page), path!);
      const isFound = existsSync(target);
      if (isFound && statSync(target).isDirectory()) target = join(target, "README.md");
      const hasAnchor = anchor === undefined ||
        isFound && target.endsWith(".md") && findAnchors(target).has(anchor);
      if (!isFound || !hasAnchor) broken.push(`${relative(ROOT, page)}: ${link}`);
    }
  }
  assert.equal(broken, []);
});

test.run();
