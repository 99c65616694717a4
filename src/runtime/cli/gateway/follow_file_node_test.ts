import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { until } from "../../../test_until.ts";
import { followGatewayFile } from "./follow_file.ts";
import { createGateway } from "./gateway_file.ts";

const test = suite("runtime/cli/gateway/follow_file");
const root = mkdtempSync(join(tmpdir(), "trivet-"));
test.after(() => rmSync(root, { recursive: true }));

const server = (name: string, more: object = {}) => ({ url: `https://${name}.example/mcp`, ...more });

test("a change that fails is undone with the file, and a prefix passes to a server with another name", async () => {
  const path = join(root, "mcp.json");
  const write = (mcpServers: object): void => writeFileSync(path, JSON.stringify({ mcpServers }));
  write({ a: server("a", { prefix: "x" }) });
  const command = createGateway(path, () => {});
  const offered = new Map<string, string>([["a", "https://a.example/mcp"]]);
  const reports: string[] = [];
  const stop = followGatewayFile(command, {
    add(name, given) {
      const { url, prefix } = given as { readonly url: string; readonly prefix?: string };
      if (url.includes("bad") || prefix === "x" && offered.has("a")) throw new TypeError(`no ${name}`);
      offered.set(name, url);
    },
    remove: (name) => Promise.resolve(offered.delete(name)),
  }, (message) => reports.push(message));
  try {
    write({ a: server("a", { prefix: "x" }), b: server("b"), c: server("bad") });
    await until(() => reports.length === 1);
    assert.match(reports[0]!, "no c");
    write({ a: server("a", { prefix: "x" }) });
    await until(() => reports.length === 2);
    assert.equal([...offered.keys()], ["a"]);
    write({ renamed: server("a", { prefix: "x" }) });
    await until(() => reports.length === 3);
    assert.equal([...offered.keys()], ["renamed"]);
  } finally {
    stop();
  }
});

test("a change between the first read and the begin of the watch is followed", async () => {
  const path = join(root, "early.json");
  writeFileSync(path, JSON.stringify({ mcpServers: {} }));
  const command = createGateway(path, () => {});
  writeFileSync(path, JSON.stringify({ mcpServers: { a: server("a") } }));
  const added: string[] = [];
  const gateway = { add: (name: string) => void added.push(name), remove: () => Promise.resolve(false) };
  const stop = followGatewayFile(command, gateway, () => {});
  try {
    await until(() => added.length === 1);
  } finally {
    stop();
  }
});

test.run();
