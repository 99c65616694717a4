/**
 * The arguments of a tool: from `--input`, `--argument` and a form, checked against the tool's schema.
 *
 * @module
 */
import { isObject } from "../../../json_schema/value.ts";
import type { JsonObject } from "../../../mcp_client/client.ts";
import { readSecretFromStdin } from "../admin/secret_input.ts";
import { suggest } from "../nearest.ts";
import type { ValuesOf } from "../options.ts";
import { UsageError } from "../output.ts";
import { printableText } from "../printable_text.ts";
import type { Asker } from "./ask.ts";
import { checkValue, parseValue } from "./field_value.ts";
import { askForm } from "./form.ts";

export const ARGUMENT_OPTIONS = {
  argument: {
    value: "NAME=VALUE",
    isRepeatable: true,
    summary: "an argument of the tool; objects in JSON, lists in JSON or with commas",
    parse: (text: string): readonly [string, string] | undefined => {
      const at = text.indexOf("=");
      return at > 0 ? [text.slice(0, at), text.slice(at + 1)] : undefined;
    },
    expected: "NAME=VALUE",
  },
  input: { value: "JSON", summary: "the arguments as a JSON object; - reads it from standard input" },
} as const;

/**
 * @param asker asks for what is missing; `undefined` without a terminal
 * @throws {UsageError} naming each invalid argument
 */
export async function readToolArguments(
  { argument = [], input }: ValuesOf<typeof ARGUMENT_OPTIONS>,
  schema: unknown,
  asker: Asker | undefined,
  signal: AbortSignal,
): Promise<JsonObject> {
  const root = isObject(schema) ? schema : {};
  const properties = isObject(root.properties) ? root.properties : {};
  const pairs = argument.map(([name, text]): [string, unknown] => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property === undefined && root.additionalProperties === false) {
      const names = Object.keys(properties);
      const near = suggest(name, names) || `. It has ${names.join(", ") || "none"}`;
      throw new UsageError(printableText(`the tool has no argument "${name}"${near}`));
    }
    try {
      return [name, parseValue(text, isObject(property) ? property : {})];
    } catch (error) {
      if (error instanceof TypeError) {
        throw new UsageError(printableText(`${name} ${error.message}`), { cause: error });
      }
      throw error;
    }
  });
  const given: JsonObject = { ...await readInput(input), ...Object.fromEntries(pairs) };
  const requiredOnly = argument.length > 0 || input !== undefined;
  const values = asker ? await askForm(schema, { asker, signal, given, requiredOnly }) : given;
  const problems = checkValue(values, schema);
  if (problems.length === 0) return values;
  throw new UsageError(printableText(`invalid arguments: ${problems.join("; ")}`));
}

async function readInput(input: string | undefined): Promise<JsonObject> {
  if (input === undefined) return {};
  let value: unknown;
  try {
    value = JSON.parse(input === "-" ? await readSecretFromStdin("JSON object") : input);
  } catch (error) {
    if (error instanceof UsageError) throw error;
  }
  if (isObject(value)) return value;
  throw new UsageError("--input must be a JSON object");
}
