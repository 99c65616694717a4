/**
 * Converts valibot schemas to JSON Schema by `@valibot/to-json-schema` (https://valibot.dev/guides/json-schema/). The library
 * refuses what has no equivalent in JSON Schema. Here is what it leaves open: transformations of strings, several patterns,
 * and defaults in results.
 *
 * @module
 */
import type { ConvertSchema, SchemaUse } from "./convert_schema.ts";

type Members = Record<string, unknown>;

/** The members of valibot's schemas and actions that we read (https://valibot.dev). */
interface ValibotNode {
  readonly type: string;
  readonly requirement?: unknown;
  readonly entries?: Readonly<Record<string, ValibotNode>>;
  readonly default?: unknown;
}

interface Config {
  readonly typeMode: SchemaUse;
  readonly target: "draft-2020-12";
  /** Returns what replaces the converted action, also one that the library refuses (`errors`). */
  readonly overrideAction: (at: {
    readonly valibotAction: ValibotNode;
    readonly jsonSchema: Members;
    readonly errors: unknown;
  }) => Members | undefined;
  readonly overrideSchema: (at: {
    readonly valibotSchema: ValibotNode;
    readonly jsonSchema: Members;
    readonly errors: unknown;
  }) => Members | undefined;
}

/** Loads the converter. @throws {TypeError} when the package is not installed */
export async function loadValibotConverter(): Promise<ConvertSchema> {
  let library: unknown;
  try {
    // Inside `try`, so that bundlers of apps without the package leave it out.
    library = await import("@valibot/to-json-schema");
  } catch (cause) {
    throw new TypeError("@valibot/to-json-schema cannot be loaded", { cause });
  }
  const { toJsonSchema } = library as { toJsonSchema: (schema: unknown, config: Config) => Members };
  return (schema, use) => {
    const { $schema: _, ...published } = toJsonSchema(schema, {
      typeMode: use,
      target: "draft-2020-12",
      overrideAction: (at) => convertAction(at.valibotAction, at.jsonSchema, use, at.errors !== undefined),
      overrideSchema: (at) =>
        at.errors === undefined ? completeSchema(at.valibotSchema, at.jsonSchema, use) : undefined,
    });
    return published;
  };
}

/** Actions that do not change which values are accepted. */
const NEUTRAL = /^(trim|trim_start|trim_end|to_lower_case|to_upper_case|brand|readonly)$/;

function convertAction(
  { type, requirement }: ValibotNode,
  schema: Members,
  use: SchemaUse,
  isRefused: boolean,
): Members | undefined {
  if (NEUTRAL.test(type)) {
    // The earlier checks of a string need not hold for the string after a transformation.
    if (use === "input" || !/^(trim|to_)/.test(type)) return schema;
    const { title, description } = schema;
    return {
      type: "string",
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description }),
    };
  }
  const pattern = isRefused ? patternOf(type, requirement) : undefined;
  if (pattern === undefined) return undefined;
  // A schema has one `pattern`; further patterns go to `allOf`.
  return schema.pattern === pattern
    ? schema
    : { ...schema, allOf: [...(schema.allOf as Members[] ?? []), { pattern }] };
}

/** The pattern of an action that the library refuses beside another pattern, or for its flags. */
function patternOf(type: string, requirement: unknown): string | undefined {
  switch (type) {
    case "regex": {
      const { source, flags } = requirement as RegExp;
      // JSON Schema patterns have the flag "u"; these flags would change which strings match.
      return /[imsv]/.test(flags) ? undefined : source;
    }
    case "starts_with":
      return "^" + escapePattern(requirement as string);
    case "ends_with":
      return escapePattern(requirement as string) + "$";
    default:
      return undefined;
  }
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

function completeSchema(node: ValibotNode, schema: Members, use: SchemaUse): Members {
  const { default: _default, ...rest } = schema;
  const hasDefault = node.default !== undefined;
  // A default that a function makes for each call cannot be published.
  const shown = typeof node.default === "function" ? rest : schema;
  if (use === "output" && hasDefault && node.default !== null && /^null(able|ish)$/.test(node.type)) {
    // The default replaces null too, so the output is never null.
    const { anyOf, ...others } = shown;
    return { ...(anyOf as Members[])[0], ...others };
  }
  if (!node.entries) return shown;
  const entries = Object.entries(node.entries);
  const required = entries.filter(([key, entry]) =>
    (schema.required as string[]).includes(key) || use === "output" && entry.default !== undefined
  ).map(([key]) => key);
  const { required: _, ...members } = shown;
  return required.length > 0 ? { ...members, required } : members;
}
