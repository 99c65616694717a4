/**
 * The TypeScript type of the values that a JSON Schema literal allows. This file contains types only.
 *
 * Understands `type`, `properties`, `required`, `additionalProperties`, `items`, `prefixItems`, `minItems`,
 * `maxItems`, `enum`, `const`, `anyOf`, `oneOf` and `allOf`. Other keywords do not change
 * the type: it is never narrower than the schema, except that an object type has no properties that the schema does not
 * name. `$ref` and schemas that are not literals are `unknown`.
 *
 * @module
 */

/**
 * The type of the values of a schema. Pass the literal `as const`, or infer it with a `const` type parameter.
 *
 * @typeParam Depth the maximum nesting of schemas, which bounds the work of the type checker; deeper values are `unknown`
 */
export type FromJsonSchema<Schema, Depth extends number = 12> = IsAny<Schema> extends true ? unknown
  : Schema extends true ? unknown
  : Schema extends false ? never
  : string extends keyof Schema ? unknown
  : Depth extends 0 ? unknown
  : Own<Schema, Depth> & AnyOf<Schema, Less[Depth]> & AllOf<Schema, Less[Depth]>;

/** Depth minus 1. */
type Less = [0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ...number[]];

type IsAny<T> = 0 extends 1 & T ? true : false;

/** The type of a schema without `anyOf`, `oneOf` and `allOf`. */
type Own<Schema, Depth extends number> = Schema extends { readonly const: infer Value } ? Value
  : Schema extends { readonly enum: readonly (infer Value)[] } ? Value
  : Schema extends { readonly type: readonly (infer Type)[] } ? OfType<Type, Schema, Less[Depth]>
  : Schema extends { readonly type: infer Type } ? OfType<Type, Schema, Less[Depth]>
  : unknown;

/** Distributes over a union of types. */
type OfType<Type, Schema, Depth extends number> = string extends Type ? unknown
  : Type extends "string" ? string
  : Type extends "number" | "integer" ? number
  : Type extends "boolean" ? boolean
  : Type extends "null" ? null
  : Type extends "array" ? OfArray<Schema, Depth>
  : Type extends "object" ? OfObject<Schema, Depth>
  : unknown;

type AnyOf<Schema, Depth extends number> =
  & (Schema extends { readonly anyOf: readonly (infer Each)[] } ? EachOf<Each, Depth> : unknown)
  & (Schema extends { readonly oneOf: readonly (infer Each)[] } ? EachOf<Each, Depth> : unknown);

type EachOf<Each, Depth extends number> = Each extends unknown ? FromJsonSchema<Each, Depth> : never;

// Function parameters are contravariant: inferring one for all of them gives the intersection.
type AllOf<Schema, Depth extends number> = Schema extends
  { readonly allOf: infer All extends readonly unknown[] }
  ? { [I in keyof All]: (value: FromJsonSchema<All[I], Depth>) => void }[number] extends
    (value: infer Value) => void ? Value : unknown
  : unknown;

type OfObject<Schema, Depth extends number> = Schema extends { readonly properties: infer Properties }
  ? string extends keyof Properties ? Record<string, unknown> : Named<Properties, Schema, Depth>
  : Named<unknown, Schema, Depth>;

/** An object with named properties. */
type Named<Properties, Schema, Depth extends number> = [keyof Properties | RequiredOf<Schema>] extends [never]
  ? Record<string, RestOf<Schema, Depth, unknown>>
  : Flat<
    & {
      -readonly [K in keyof Properties as K extends RequiredOf<Schema> ? K : never]: FromJsonSchema<
        Properties[K],
        Depth
      >;
    }
    & {
      -readonly [K in keyof Properties as K extends RequiredOf<Schema> ? never : K]?: FromJsonSchema<
        Properties[K],
        Depth
      >;
    }
    & { [K in Exclude<RequiredOf<Schema>, keyof Properties>]: unknown }
    & Indexed<RestOf<Schema, Depth, never>, Properties, Depth>
  >;

type RequiredOf<Schema> = Schema extends { readonly required: readonly (infer Name)[] }
  ? string extends Name ? never : Name & string
  : never;

/** The type of properties that the schema does not name; `Absent` when no keyword is about them. */
type RestOf<Schema, Depth extends number, Absent> = Schema extends { readonly patternProperties: unknown }
  ? unknown
  : Schema extends { readonly additionalProperties: infer Rest } ? FromJsonSchema<Rest, Depth>
  : Absent;

// The index signature of an object type must allow what its named properties hold.
type Indexed<Rest, Properties, Depth extends number> = [Rest] extends [never] ? unknown
  : {
    [key: string]: Rest | { [K in keyof Properties]: FromJsonSchema<Properties[K], Depth> }[keyof Properties];
  };

/** One object type for an intersection, so that editors show it readably. */
type Flat<Type> = Type extends infer All ? { [K in keyof All]: All[K] } : never;

type OfArray<Schema, Depth extends number> = Schema extends
  { readonly prefixItems: infer First extends readonly [unknown, ...unknown[]] } ? [
    ...AtLeast<{ [I in keyof First]: FromJsonSchema<First[I], Depth> }, MinItems<Schema>>,
    ...(Schema extends { readonly maxItems: First["length"] } ? [] : RestItems<Schema, Depth>),
  ]
  : Schema extends { readonly items: infer Items } ? FromJsonSchema<Items, Depth>[]
  : unknown[];

type RestItems<Schema, Depth extends number> = Schema extends { readonly items: infer Items }
  ? Items extends false ? [] : FromJsonSchema<Items, Depth>[]
  : unknown[];

type MinItems<Schema> = Schema extends { readonly minItems: infer Min extends number } ? Min : 0;

/** `prefixItems` alone requires no items: those after the first `Min` are optional. */
type AtLeast<Items extends readonly unknown[], Min extends number, Head extends readonly unknown[] = []> =
  Head["length"] extends Min ? [...Head, ...Partial<Items>]
    : Items extends readonly [infer First, ...infer Rest] ? AtLeast<Rest, Min, [...Head, First]>
    : Head;
