import { suite } from "uvu";
import * as assert from "uvu/assert";
import { addVersion, hasVersion, listChanges, newestVersion } from "./changelog.ts";

const test = suite("changelog");

test("groups commits by area, leaves out tests and tools, and lists no change twice", () => {
  const text = listChanges([
    "mcp: answer ping before initialize",
    "oauth: check the nonce",
    "test: wait for lines",
    "bench: add a row",
    "oauth/openid: sign with a rotated key",
    "oauth: check the nonce",
    "an old subject without an area",
  ]);
  assert.is(
    text,
    "### Authorization server\n\n- Check the nonce\n- Sign with a rotated key\n\n" +
      "### MCP server\n\n- Answer ping before initialize\n",
  );
});

test("keeps what people wrote, in its groups, on top of the section, and the older sections", () => {
  const before =
    "# Changes\n\n## Unreleased\n\n### New\n\n- Better keys.\n\n## 0.1.0 (2026-11-01)\n\nFirst.\n";
  const after = addVersion(before, "0.2.0", "2026-12-01", ["cli: print the port"]);
  assert.is(
    after,
    "# Changes\n\n## Unreleased\n\n## 0.2.0 (2026-12-01)\n\n### New\n\n- Better keys.\n\n### Command line\n\n- Print the port\n\n" +
      "## 0.1.0 (2026-11-01)\n\nFirst.\n",
  );
  assert.is(newestVersion(after), "0.2.0");
  assert.ok(hasVersion(after, "0.1.0"));
  assert.not(hasVersion(after, "0.1"));
});

test("adds the first version, a version without changes, and no version twice", () => {
  const first = addVersion("# Changes\n\n## Unreleased\n", "1.0.0", "2026-12-01", []);
  assert.is(first, "# Changes\n\n## Unreleased\n\n## 1.0.0 (2026-12-01)\n");
  assert.throws(() => addVersion(first, "1.0.0", "2026-12-02", []), /1\.0\.0/);
  assert.throws(() => addVersion("# Changes\n", "1.0.0", "2026-12-02", []), /Unreleased/);
  assert.is(addVersion(first, "1.0.1", "2026-12-03", []).match(/^## /gm)?.length, 3);
});

test.run();
