/**
 * Making responses. One place, because a runtime may offer a faster `Response` than the global one: srvx's
 * writes its string straight to the socket, where Node's own becomes a stream first (0.57 of raw `node:http`
 * against 1.07).
 *
 * @module
 */

/** The part of the `Response` constructor that Trivet uses. */
export type ResponseConstructor = new (body?: BodyInit | null, init?: ResponseInit) => Response;

let Constructor: ResponseConstructor = Response;

/** Makes every later response with `constructor`. For runtime entries, once at start. */
export function useResponse(constructor: ResponseConstructor): void {
  Constructor = constructor;
}

/** Header fields as pairs, so that one list made at start serves every response. */
export type Fields = readonly (readonly [string, string])[];

const JSON_FIELDS: Fields = [["content-type", "application/json"]];
const TEXT_FIELDS: Fields = [["content-type", "text/plain; charset=utf-8"]];

/** `text` as it is, with the header fields given. */
export function respond(status: number, body: BodyInit | null, fields: Fields = []): Response {
  return new Constructor(body, { status, headers: fields as [string, string][] });
}

/** `value` as JSON. `fields` must name the content type when given: {@linkcode jsonFields} does. */
export function respondJson(status: number, value: unknown, fields: Fields = JSON_FIELDS): Response {
  return respond(status, JSON.stringify(value), fields);
}

/** Plain text. */
export function respondText(status: number, text: string, more?: Fields): Response {
  return respond(status, text, more ? [...TEXT_FIELDS, ...more] : TEXT_FIELDS);
}

/** `application/json` and more; to be made once, outside the request. */
export function jsonFields(...more: Fields): Fields {
  return [...JSON_FIELDS, ...more];
}
