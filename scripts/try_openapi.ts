/**
 * Makes tools of OpenAPI documents, compiles every schema, and prints counts and times:
 * `node scripts/try_openapi.ts FILE…`, for JSON and YAML.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import process from "node:process";
import { parse } from "yaml";
import { compileSchema, type JsonSchema } from "../src/json_schema/compile.ts";
import type { ToolDefinition } from "../src/mcp/definition/definition.ts";
import { openApi } from "../src/openapi.ts";

function tryDocument(file: string, select: "safe" | "all"): void {
  const text = readFileSync(file, "utf8").replace(/^\ufeff/, "");
  const document = file.endsWith(".json") ? JSON.parse(text) : parse(text, { maxAliasCount: -1 });
  const start = performance.now();
  const api = openApi({ document, server: "https://api.example.com", select });
  const time = performance.now() - start;
  const tools = api.current().filter((each): each is ToolDefinition => each.kind === "tool");
  let schemas = 0;
  let input = 0;
  let output = 0;
  for (const { name, title, description, input: inputSchema, output: outputSchema, annotations } of tools) {
    for (const schema of [inputSchema, outputSchema]) {
      if (!schema) continue;
      compileSchema(schema as JsonSchema);
      schemas++;
    }
    input += JSON.stringify({ name, title, description, inputSchema, annotations }).length;
    output += JSON.stringify(outputSchema ?? "").length;
  }
  console.log(
    `${
      basename(file)
    } (OpenAPI ${document.openapi}), ${select}: ${tools.length} tools, ${schemas} schemas, ` +
      `${api.skipped().length} skipped, ${api.widened().length} widened, ` +
      `${Math.round(input / 1000)} k characters and ${Math.round(output / 1000)} k of output schemas, ${
        Math.round(time)
      } ms`,
  );
  for (const { method, path, reason } of api.skipped()) console.log(`  ${method} ${path}: ${reason}`);
}

for (const file of process.argv.slice(2)) {
  tryDocument(file, "safe");
  tryDocument(file, "all");
}
