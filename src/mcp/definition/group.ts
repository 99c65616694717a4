/**
 * Groups of definitions with a common name prefix, common scopes and middleware. A module of tools exports a group;
 * groups may contain groups.
 *
 * @module
 */
import { checkNames, type Names } from "../../options/option_check.ts";
import type { CallContext } from "../context.ts";
import type { Complete, CompletionContext, Definition } from "./definition.ts";

/** A list of definitions, which may contain further lists. */
export type Definitions = readonly (Definition | Definitions)[];

/** The call around which a middleware function runs. */
export interface Use {
  readonly kind: Definition["kind"];
  /** The name of the tool or prompt, the URI or URI template of the resource. */
  readonly name: string;
  /** Parsed arguments of a tool or prompt, variables of a template, `undefined` for a resource. */
  readonly input: unknown;
  /**
   * Whether values for an argument of a prompt or a variable of a template are completed: `input` has what the user typed
   * until now, and `next` returns what the `complete` function returns.
   */
  readonly isCompletion?: true | undefined;
  /** What is used, with members of its own such as the MCP server that it comes from. */
  readonly definition: Definition;
}

/** Runs around a handler (`next`). It may throw to refuse the call, and may change the result. */
export type Middleware = (use: Use, context: CallContext, next: () => unknown) => unknown;

export interface GroupOptions {
  /** Prepended to the names of tools and prompts. */
  readonly prefix?: string;
  /** Scopes that every definition requires in addition to its own. */
  readonly scopes?: readonly string[];
  /** The first one is the outermost. Runs around completions, too: see {@linkcode Use.isCompletion}. */
  readonly middleware?: readonly Middleware[];
}

const NAMES: Names<GroupOptions> = { prefix: "string", scopes: "string[]", middleware: "function[]" };

/**
 * Applies the options to the definitions, and returns one flat list.
 * @throws {TypeError} naming an option that does not exist
 */
export function group(options: GroupOptions, definitions: Definitions): Definition[] {
  checkNames("group", options, NAMES);
  const { prefix = "", scopes = [], middleware = [] } = options;
  return flatten(definitions).map((definition) => {
    const all = [...scopes, ...(definition.scopes ?? [])];
    const isNamed = definition.kind === "tool" || definition.kind === "prompt";
    // compileRegistry() refuses invalid names.
    const named = isNamed && typeof definition.name === "string"
      ? { ...definition, name: prefix + definition.name }
      : definition;
    return wrap({ ...named, ...(all.length > 0 && { scopes: all }) }, middleware);
  });
}

/** The name of a tool or prompt, the URI or URI template of a resource. */
export function placeOf(definition: Definition): string {
  const { name, uri = name, uriTemplate = uri }: Definition & { uri?: string; uriTemplate?: string } =
    definition;
  return uriTemplate;
}

/** The definitions of all nested lists, in one list. */
export function flatten(definitions: Definitions): Definition[] {
  return (definitions as readonly unknown[]).flat(Infinity) as Definition[];
}

function wrap(definition: Definition, middleware: readonly Middleware[]): Definition {
  if (middleware.length === 0) return definition;
  const { kind } = definition;
  const name = placeOf(definition);
  const around = <Result>(
    input: unknown,
    context: CallContext,
    run: () => Result,
    isCompletion?: true,
  ): Result =>
    middleware.reduceRight<() => unknown>(
      (next, each) => () => each({ kind, name, input, definition, isCompletion }, context, next),
      run,
    )() as Result;
  const guard = (argument: string, complete: Complete): Complete => (value, context) =>
    around(
      { ...context.arguments, [argument]: value },
      // What completes is a call, too.
      context as CompletionContext & CallContext,
      () => complete(value, context),
      true,
    );
  switch (definition.kind) {
    case "tool":
      return {
        ...definition,
        run: (input, context) => around(input, context, () => definition.run(input, context)),
      };
    case "resource":
      return {
        ...definition,
        read: (context: CallContext) => around(undefined, context, () => definition.read(context)),
      };
    case "resource_template":
      return {
        ...definition,
        // Middleware may refuse `read`, and must also decide whether a resource exists: so `exists` is not used.
        exists: undefined,
        complete: definition.complete && Object.fromEntries(
          Object.entries(definition.complete).map(([name, each]) => [name, guard(name, each)]),
        ),
        read: (variables, context, uri) =>
          around(variables, context, () => definition.read(variables, context, uri)),
      };
    case "prompt":
      return {
        ...definition,
        arguments: definition.arguments?.map((each) =>
          each.complete ? { ...each, complete: guard(each.name, each.complete) } : each
        ),
        get: (values, context) => around(values, context, () => definition.get(values, context)),
      };
  }
}
