import { readFileSync } from "node:fs";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { findReturnedTypes, findUsedTypes, readComment } from "./used_types.ts";

const test = suite("reference/used types");

test("the types of a declaration are found where they are declared", () => {
  const context = "src/mcp/context.ts";
  assert.equal(findUsedTypes({ file: context, name: "FormRequest" }), [
    { file: "src/mcp/schema/standard_schema.ts", name: "AnySchema" },
  ]);
  assert.match(readComment({ file: context, name: "FormRequest" }), "identifies the request");
});

test("what a function returns is found, also of a generic one", () => {
  const file = "src/mcp/definition/definition.ts";
  assert.equal(findReturnedTypes({ file: "src/mcp/definition/define.ts", name: "tool" }), [
    { file, name: "ToolDefinition" },
  ]);
  assert.equal(findReturnedTypes({ file: "src/oauth/clients/client.ts", name: "listClients" }), [
    { file: "src/oauth/records/client_record.ts", name: "Client" },
  ]);
  assert.equal(findReturnedTypes({ file, name: "ToolDefinition" }), []);
});

test("a reader of the reference finds what tool(), prompt() and call.elicit() take", () => {
  const page = readFileSync("docs/reference/mcp.md", "utf8");
  for (const name of ["ToolOf", "ToolDefinition", "PromptArgument", "FormRequest", "GroupOptions"]) {
    assert.match(page, new RegExp(`^###? ${name}$`, "m"));
    assert.match(page, `(#${name.toLowerCase()})`);
  }
});

test.run();
