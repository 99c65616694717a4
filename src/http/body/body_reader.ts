/**
 * A quicker way to a whole body than the request's own, where a runtime entry has one.
 *
 * @module
 */

export type ReadBody = () => Promise<Uint8Array>;

/** On the request itself: each entry of a `WeakMap` would cost more than reading a small body. */
const READ = Symbol("trivet.read_body");

interface Readable extends Request {
  [READ]?: ReadBody;
}

/** Has the body of this request read by `read`, once. For runtime entries. */
export function useBodyReader(request: Request, read: ReadBody): void {
  (request as Readable)[READ] = read;
}

/** The quicker way to the body of this request; `undefined` where there is only its own. */
export function bodyReaderOf(request: Request): ReadBody | undefined {
  return (request as Readable)[READ];
}
