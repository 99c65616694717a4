import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { readGatewayFile } from "./gateway_file.ts";

const test = suite("runtime/cli/gateway/gateway_file");
const root = mkdtempSync(join(tmpdir(), "trivet-"));
test.after(() => rmSync(root, { recursive: true }));

test("a file may begin with a byte order mark, and one with comments is refused as such", () => {
  const path = join(root, "mcp.json");
  const mcpServers = { a: { url: "https://a.example/mcp" } };
  writeFileSync(path, `\ufeff${JSON.stringify({ mcpServers })}`);
  assert.equal(readGatewayFile(path), { mcpServers });
  writeFileSync(path, `{ // of an editor\n"mcpServers": {} }`);
  assert.throws(() => readGatewayFile(path), /mcp\.json" is not JSON\. Comments/);
  writeFileSync(path, "null");
  assert.throws(() => readGatewayFile(path), /must contain an object/);
});

test.run();
