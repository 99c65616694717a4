/**
 * What a schema calls its parts, and which part a reference means: `$id`, `$anchor`, `$dynamicAnchor`, JSON Pointers
 * (https://json-schema.org/draft/2020-12/json-schema-core#section-8.2). Everything that is referred to stands in the
 * document itself: nothing is ever fetched.
 *
 * @module
 */
import { isDraft7, schemasIn } from "./dialect.ts";
import { operandError } from "./operand.ts";
import { isObject } from "./value.ts";
import { asWritten, pointerStep } from "./words.ts";

/** A schema with an identifier of its own, and what is inside it but not inside a further one. */
export interface Resource {
  /** Absolute, without fragment. */
  readonly uri: string;
  readonly isDraft7: boolean;
}

/** A schema that a reference means. */
export interface Target {
  readonly schema: unknown;
  readonly resource: Resource;
  /** Schemas that may stand in for it: those of the same `$dynamicAnchor`, by their resource. */
  readonly dynamic: ReadonlyMap<Resource, unknown> | undefined;
}

const DEEPEST = 128;
const MOST_SCHEMAS = 10_000;

export class Document {
  /** Has a base also when its schema has no `$id`: relative references find relative identifiers. */
  readonly root: Resource = { uri: "schema:/", isDraft7: false };
  /** Whether the dynamic scope decides about any reference. */
  isDynamic = false;
  readonly #resourceOf = new Map<unknown, Resource>();
  /** By URI, with or without fragment. */
  readonly #named = new Map<string, unknown>();
  /** By `$dynamicAnchor`. */
  readonly #dynamic = new Map<unknown, Map<Resource, unknown>>();

  /** @throws {TypeError} when it is too large, in an unknown dialect, or calls two parts the same */
  constructor(schema: unknown) {
    this.#named.set(this.root.uri, schema);
    this.#index(schema, "#", this.root, 0);
    this.root = this.resourceOf(schema, this.root);
  }

  /** The resource that a schema belongs to, which is seldom another than that of the schema around it. */
  resourceOf(schema: unknown, around: Resource): Resource {
    return this.#resourceOf.get(schema) ?? around;
  }

  #index(schema: unknown, at: string, resource: Resource, depth: number): void {
    if (!isObject(schema) || this.#resourceOf.has(schema)) return;
    if (depth > DEEPEST || this.#resourceOf.size >= MOST_SCHEMAS) {
      throw new TypeError(
        `Cannot compile schema: more than ${DEEPEST} levels or ${MOST_SCHEMAS} subschemas at "${at}"`,
      );
    }
    const { $schema, $id, $anchor, $dynamicAnchor } = schema;
    const draft7 = $schema === undefined ? resource.isDraft7 : isDraft7($schema, at);
    let { uri } = resource;
    // Draft-07 section 8.3: beside a $ref nothing counts.
    if ($id !== undefined && !(draft7 && "$ref" in schema)) {
      const [base, fragment] = resolveUri($id, uri, `${at}/$id`);
      // Draft-07 section 8.2.3: with a fragment it was what $anchor is now.
      if (fragment !== "" && !draft7) throw operandError(`${at}/$id`, "a URI without a fragment", $id);
      if (fragment === "") uri = base;
      this.#name(fragment === "" ? base : `${base}#${fragment}`, schema, at);
    }
    if (uri !== resource.uri || draft7 !== resource.isDraft7) resource = { uri, isDraft7: draft7 };
    this.#resourceOf.set(schema, resource);
    for (const name of draft7 ? [] : [$anchor, $dynamicAnchor]) {
      if (name !== undefined) this.#name(`${uri}#${name}`, schema, at);
    }
    if ($dynamicAnchor !== undefined) {
      if (!this.#dynamic.has($dynamicAnchor)) this.#dynamic.set($dynamicAnchor, new Map());
      this.#dynamic.get($dynamicAnchor)!.set(resource, schema);
    }
    this.isDynamic ||= "$dynamicRef" in schema;
    for (const keyword of Object.keys(schema)) {
      for (const [place, inner] of schemasIn(keyword, schema[keyword])) {
        this.#index(inner, at + pointerStep(keyword) + place, resource, depth + 1);
      }
    }
  }

  #name(uri: string, schema: unknown, at: string): void {
    if (this.#named.has(uri) && this.#named.get(uri) !== schema) {
      throw new TypeError(`Cannot compile schema: duplicate identifier ${asWritten(uri)} at "${at}"`);
    }
    this.#named.set(uri, schema);
  }

  /** The schema that a reference at a place of a resource means. @throws {TypeError} when it means none in here */
  resolve(reference: unknown, from: Resource, at: string): Target {
    const [uri, fragment] = resolveUri(reference, from.uri, at);
    const isPointer = fragment === "" || fragment.startsWith("/");
    let schema = this.#named.get(isPointer ? uri : `${uri}#${fragment}`);
    let resource = this.resourceOf(schema, from);
    for (const step of isPointer ? fragment.split("/").slice(1) : []) {
      const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
      schema = Object.hasOwn(Object(schema), name) ? (schema as Record<string, unknown>)[name] : undefined;
      resource = this.resourceOf(schema, resource);
    }
    if (schema === undefined) {
      throw new TypeError(
        `Cannot compile schema: unresolved reference ${asWritten(reference)} at "${at}". ` +
          "References are not fetched: put the referenced schema in $defs with its $id",
      );
    }
    // What stands under no keyword that holds schemas is one when it is referred to.
    this.#index(schema, "#" + fragment, resource, 0);
    resource = this.resourceOf(schema, resource);
    const dynamic = this.#dynamic.get(fragment);
    return { schema, resource, dynamic: dynamic?.get(resource) === schema ? dynamic : undefined };
  }
}

/** A URI reference, made absolute, and its fragment decoded. */
function resolveUri(reference: unknown, base: string, at: string): [uri: string, fragment: string] {
  try {
    if (typeof reference !== "string") throw undefined;
    const uri = new URL(reference, base);
    const fragment = decodeURIComponent(uri.hash.slice(1));
    uri.hash = "";
    return [uri.href, fragment];
  } catch (cause) {
    throw operandError(at, "a URI reference", reference, cause);
  }
}
