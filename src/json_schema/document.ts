/**
 * The identifiers in a schema document, and the resolution of references: `$id`, `$anchor`, `$dynamicAnchor`, JSON
 * Pointers (https://json-schema.org/draft/2020-12/json-schema-core#section-8.2). All targets must be in the document:
 * nothing is ever fetched.
 *
 * @module
 */
import { isDraft7, subschemasOf } from "./dialect.ts";
import { invalidKeyword } from "./keyword_value.ts";
import { isObject } from "./value.ts";
import { pointerStep, toJsonText } from "./message_text.ts";

/** A schema resource (Core section 4.3.5): a schema with its own `$id`, and its subschemas without one. */
export interface Resource {
  /** Absolute, without fragment. */
  readonly uri: string;
  readonly isDraft7: boolean;
}

/** The target of a reference. */
export interface Target {
  readonly schema: unknown;
  readonly resource: Resource;
  /** The schemas with the same `$dynamicAnchor`, which may replace the target, by resource. */
  readonly dynamic: ReadonlyMap<Resource, unknown> | undefined;
}

const MAX_DEPTH = 128;
const MAX_SUBSCHEMAS = 10_000;

export class Document {
  /** Has a base URI also without `$id`, so that relative references find relative identifiers. */
  readonly root: Resource = { uri: "schema:/", isDraft7: false };
  /** Whether the document has a `$dynamicRef`. */
  isDynamic = false;
  readonly #resourceOf = new Map<unknown, Resource>();
  /** By URI, with or without fragment. */
  readonly #named = new Map<string, unknown>();
  /** By `$dynamicAnchor`. */
  readonly #dynamic = new Map<unknown, Map<Resource, unknown>>();

  /** @throws {TypeError} for a schema that is too large, has an unsupported dialect or a duplicate identifier */
  constructor(schema: unknown) {
    this.#named.set(this.root.uri, schema);
    this.#index(schema, "#", this.root, 0);
    this.root = this.resourceOf(schema, this.root);
  }

  /** The resource of a schema; most schemas have the resource of the schema that contains them (`parent`). */
  resourceOf(schema: unknown, parent: Resource): Resource {
    return this.#resourceOf.get(schema) ?? parent;
  }

  #index(schema: unknown, at: string, resource: Resource, depth: number): void {
    if (!isObject(schema) || this.#resourceOf.has(schema)) return;
    if (depth > MAX_DEPTH || this.#resourceOf.size >= MAX_SUBSCHEMAS) {
      throw new TypeError(
        `Cannot compile schema: more than ${MAX_DEPTH} levels or ${MAX_SUBSCHEMAS} subschemas at "${at}"`,
      );
    }
    const { $schema, $id, $anchor, $dynamicAnchor } = schema;
    const draft7 = $schema === undefined ? resource.isDraft7 : isDraft7($schema, at);
    let { uri } = resource;
    // Draft-07 section 8.3: other keywords beside $ref are ignored.
    if ($id !== undefined && !(draft7 && "$ref" in schema)) {
      const [base, fragment] = resolveUri($id, uri, `${at}/$id`);
      // Draft-07 section 8.2.3: an $id with a fragment is what $anchor is now.
      if (fragment !== "" && !draft7) throw invalidKeyword(`${at}/$id`, "a URI without a fragment", $id);
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
      for (const [place, inner] of subschemasOf(keyword, schema[keyword])) {
        this.#index(inner, at + pointerStep(keyword) + place, resource, depth + 1);
      }
    }
  }

  #name(uri: string, schema: unknown, at: string): void {
    if (this.#named.has(uri) && this.#named.get(uri) !== schema) {
      throw new TypeError(`Cannot compile schema: duplicate identifier ${toJsonText(uri)} at "${at}"`);
    }
    this.#named.set(uri, schema);
  }

  /** The target of a reference in a resource. @throws {TypeError} when the document does not contain the target */
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
        `Cannot compile schema: unresolved reference ${toJsonText(reference)} at "${at}". ` +
          "References are not fetched: put the referenced schema in $defs with its $id",
      );
    }
    // A reference makes a schema also of a value that no keyword applies.
    this.#index(schema, "#" + fragment, resource, 0);
    resource = this.resourceOf(schema, resource);
    const dynamic = this.#dynamic.get(fragment);
    return { schema, resource, dynamic: dynamic?.get(resource) === schema ? dynamic : undefined };
  }
}

/** Resolves a URI reference: the absolute URI without fragment, and the decoded fragment. */
function resolveUri(reference: unknown, base: string, at: string): [uri: string, fragment: string] {
  try {
    if (typeof reference !== "string") throw undefined;
    const uri = new URL(reference, base);
    const fragment = decodeURIComponent(uri.hash.slice(1));
    uri.hash = "";
    return [uri.href, fragment];
  } catch (cause) {
    throw invalidKeyword(at, "a URI reference", reference, cause);
  }
}
