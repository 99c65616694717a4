/**
 * Definitions put together: with a prefix, with scopes that all of them ask for, and with what runs around each
 * (middleware). A module of tools exports a group; groups may hold groups.
 *
 * @module
 */
import type { CallContext } from "../context.ts";
import type { Definition } from "./definition.ts";

/** Definitions, and lists of them. */
export type Definitions = readonly (Definition | Definitions)[];

/** What a piece of middleware is told of the call around which it runs. */
export interface Use {
  readonly kind: Definition["kind"];
  /** The name of the tool or prompt, the URI or URI template of the resource. */
  readonly name: string;
  /** Parsed arguments of a tool or a prompt, variables of a template, nothing of a resource. */
  readonly input: unknown;
}

/** Runs around a handler: looks, refuses by throwing, or changes what `next` gives. */
export type Middleware = (use: Use, context: CallContext, next: () => unknown) => unknown;

export interface GroupOptions {
  /** Goes before the names of tools and prompts. */
  readonly prefix?: string;
  /** What every one of them asks for, beside its own scopes. */
  readonly scopes?: readonly string[];
  /** The first is the outermost. */
  readonly middleware?: readonly Middleware[];
}

/** The definitions with the group's options applied, in one flat list. Done once, at start. */
export function group(options: GroupOptions, definitions: Definitions): Definition[] {
  const { prefix = "", scopes = [], middleware = [] } = options;
  return flatten(definitions).map((definition) => {
    const all = [...scopes, ...(definition.scopes ?? [])];
    const isNamed = definition.kind === "tool" || definition.kind === "prompt";
    // A name that is none is refused where all are compiled.
    const named = isNamed && typeof definition.name === "string"
      ? { ...definition, name: prefix + definition.name }
      : definition;
    return wrap({ ...named, ...(all.length > 0 && { scopes: all }) }, middleware);
  });
}

/** One flat list. */
export function flatten(definitions: Definitions): Definition[] {
  return (definitions as readonly unknown[]).flat(Infinity) as Definition[];
}

function wrap(definition: Definition, middleware: readonly Middleware[]): Definition {
  if (middleware.length === 0) return definition;
  const around = (name: string, input: unknown, context: CallContext, run: () => unknown): unknown =>
    middleware.reduceRight<() => unknown>(
      (next, each) => () => each({ kind: definition.kind, name, input }, context, next),
      run,
    )();
  switch (definition.kind) {
    case "tool":
      return {
        ...definition,
        run: (input, context) =>
          around(definition.name, input, context, () => definition.run(input, context)),
      };
    case "resource":
      return {
        ...definition,
        read: async (context: CallContext) =>
          await around(definition.uri, undefined, context, () => definition.read(context)) as Awaited<
            ReturnType<typeof definition.read>
          >,
      };
    case "resource_template":
      return {
        ...definition,
        // What middleware refuses to read must not be told to exist.
        exists: undefined,
        read: async (variables, context) =>
          await around(
            definition.uriTemplate,
            variables,
            context,
            () => definition.read(variables, context),
          ) as Awaited<ReturnType<typeof definition.read>>,
      };
    case "prompt":
      return {
        ...definition,
        get: async (values, context) =>
          await around(definition.name, values, context, () => definition.get(values, context)) as Awaited<
            ReturnType<typeof definition.get>
          >,
      };
  }
}
