/**
 * Security requirements and schemes (https://spec.openapis.org/oas/v3.1.1#security-requirement-object): which credentials
 * an operation takes, and where they go in a request.
 *
 * @module
 */
import { encodeBase64 } from "../crypto/base64.ts";
import { isObject } from "../json_schema/value.ts";
import { arrayOf, objectOf, type OpenApiDocument, OpenApiError, resolve, textOf } from "./document.ts";
import { encode } from "./serialize.ts";

/** A scheme that a requirement names. */
export interface SecurityScheme {
  /** Its name in the document. */
  readonly name: string;
  /** `header`, `query`, `cookie`: an API key of the field `key`. `basic`, `bearer`: in Authorization. `none`: not in the request. */
  readonly place: "header" | "query" | "cookie" | "basic" | "bearer" | "none";
  readonly key: string;
  /** OAuth scopes that the operation needs. */
  readonly scopes: readonly string[];
}

/** Schemes that are needed together. */
export type Requirement = readonly SecurityScheme[];

/** Credentials that are in the query or in cookies, besides header fields. */
export interface Credentials {
  readonly headers: Record<string, string>;
  readonly query: string[];
  readonly cookies: string[];
}

/** RFC 6265 section 4.1.1. */
const COOKIE_VALUE = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/;

/**
 * The alternatives of an operation; empty when it needs no credentials.
 * @throws {OpenApiError} for a scheme that is unknown or not supported
 */
export function readSecurity(document: OpenApiDocument, own: unknown): readonly Requirement[] {
  const requirements = arrayOf(own === undefined ? document.root.security : own);
  const schemes = objectOf(objectOf(document.root.components).securitySchemes);
  return requirements.filter(isObject).map((requirement) =>
    Object.entries(requirement).map(([name, scopes]) => {
      if (!Object.hasOwn(schemes, name)) throw new OpenApiError(`Unknown security scheme "${name}"`);
      return readScheme(name, resolve(document, schemes[name]), scopes);
    })
  );
}

function readScheme(name: string, source: Readonly<Record<string, unknown>>, given: unknown): SecurityScheme {
  const scopes = arrayOf(given).filter((each) => typeof each === "string");
  const bearer = { name, place: "bearer", key: "authorization", scopes } as const;
  switch (source.type) {
    case "apiKey": {
      const key = textOf(source.name);
      const place = source.in;
      if (key !== undefined && (place === "header" || place === "query" || place === "cookie")) {
        return { name, place, key, scopes };
      }
      break;
    }
    case "http": {
      const scheme = String(source.scheme).toLowerCase();
      if (scheme === "bearer") return bearer;
      if (scheme === "basic") return { ...bearer, place: "basic" };
      break;
    }
    case "oauth2":
    case "openIdConnect":
      return bearer;
    case "mutualTLS":
      return { name, place: "none", key: "", scopes };
  }
  throw new OpenApiError(`Security scheme "${name}" is not supported`);
}

/** What callers must not set by parameters: the places of credentials. */
export function reservedPlaces(security: readonly Requirement[]): ReadonlySet<string> {
  return new Set(
    security.flat().map(({ place, key }) =>
      place === "query" || place === "cookie" ? `${place} ${key}` : `header ${key.toLowerCase()}`
    ),
  );
}

/** The name of a query parameter without brackets: many servers read `key[]` and `key[a]` as parts of `key`. */
export function withoutBrackets(name: string): string {
  return name.replace(/\[.*$/s, "");
}

/** Puts a credential where its scheme wants it: `user:password` for `basic`. */
export function place(credentials: Credentials, { place, key }: SecurityScheme, value: string): void {
  switch (place) {
    case "bearer":
      credentials.headers.authorization = `Bearer ${value}`;
      break;
    case "basic":
      credentials.headers.authorization = `Basic ${encodeBase64(new TextEncoder().encode(value))}`;
      break;
    case "header":
      credentials.headers[key.toLowerCase()] = value;
      break;
    case "query":
      credentials.query.push(`${encode(key)}=${encode(value)}`);
      break;
    case "cookie":
      // The value of a cookie is opaque to clients (RFC 6265 section 4.2.2), and may have escapes of its own.
      credentials.cookies.push(`${key}=${COOKIE_VALUE.test(value) ? value : encode(value)}`);
      break;
    case "none":
      break;
  }
}
