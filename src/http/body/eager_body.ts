/**
 * Whether the runtime has taken in a request's body before anybody reads it, as Bun's server does: there a request that
 * waits for its turn holds all that its sender has to send, where elsewhere the sender waits too.
 *
 * @module
 */

const eager = new WeakSet<Request>();

/** The body of this request comes whole. For runtime entries. */
export function expectEagerBody(request: Request): void {
  eager.add(request);
}

export function isBodyEager(request: Request): boolean {
  return eager.has(request);
}
