/**
 * What the client remembers of tools that it listed: arguments to repeat in header fields, and output schemas.
 *
 * @module
 */
import { ConnectionError } from "./error.ts";
import { findMarkedArguments, type MarkedArgument } from "./header_fields.ts";
import type { JsonObject } from "./limits.ts";
import { isObject } from "./message.ts";

/** Returns what is wrong with a value, if anything. */
type Check = (value: unknown) => string | undefined;

/** The tools of one server. */
export class ListedTools {
  readonly #marked: Map<string, readonly MarkedArgument[]>;
  readonly #checksOutput: boolean;
  /** Output schemas, or what was compiled from them. */
  readonly #outputs = new Map<string, unknown>();
  /** The tools of the pages since the last first one. */
  #recent = new Set<string>();

  constructor(marked: Map<string, readonly MarkedArgument[]>, checksOutput: boolean) {
    this.#marked = marked;
    this.#checksOutput = checksOutput;
  }

  /** The tools that may be used: those whose marks are valid, where the transport has header fields. */
  accept(tools: readonly unknown[], hasFields: boolean, { cursor }: Readonly<JsonObject>): unknown[] {
    if (cursor === undefined) this.#forgetOld();
    return tools.filter((tool) => {
      if (!isObject(tool) || typeof tool.name !== "string") return true;
      const { name, inputSchema, outputSchema } = tool;
      this.#recent.add(name);
      if (hasFields) {
        const marked = findMarkedArguments(inputSchema);
        if (!marked) return false;
        if (marked.length > 0) this.#marked.set(name, marked);
        else this.#marked.delete(name);
      }
      if (!this.#checksOutput) return true;
      if (isObject(outputSchema)) this.#outputs.set(name, outputSchema);
      else this.#outputs.delete(name);
      return true;
    });
  }

  /** As a list begins again: forgets the tools that it did not have the last time. */
  #forgetOld(): void {
    for (const known of [this.#marked, this.#outputs]) {
      for (const name of known.keys()) if (!this.#recent.has(name)) known.delete(name);
    }
    this.#recent = new Set();
  }

  /** Whether the tool has an output schema. */
  hasOutput(name: unknown): boolean {
    return this.#outputs.size > 0 && this.#outputs.has(name as string);
  }

  /** Checks the result of a tool. @throws {ConnectionError} malformed */
  async check(name: string, { isError, structuredContent }: JsonObject, server: string): Promise<void> {
    if (isError === true) return;
    const output = this.#outputs.get(name);
    let check = output;
    if (typeof check !== "function") {
      check = await compile(output);
      // Meanwhile the tool may have been listed with another schema.
      if (this.#outputs.get(name) === output) this.#outputs.set(name, check);
    }
    const problem = structuredContent === undefined
      ? "has no structured content, which its output schema requires"
      : (check as Check)(structuredContent);
    if (problem === undefined) return;
    throw new ConnectionError("malformed", server, `the result of tool "${name.slice(0, 128)}" ${problem}`);
  }
}

async function compile(schema: unknown): Promise<Check> {
  const { compileForeignSchema } = await import("../json_schema/foreign_schema.ts");
  try {
    const validate = compileForeignSchema(schema as JsonObject);
    return (value) => {
      const [violation] = validate?.(value) ?? [];
      return violation && `does not match its output schema: ${violation.message}`;
    };
  } catch {
    // A schema that cannot be used checks nothing.
    return () => undefined;
  }
}
