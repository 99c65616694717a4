/**
 * Whether the runtime takes in bodies before anybody reads them, as Bun does: there a request that waits for its turn
 * holds all that its sender has to send, where elsewhere the sender waits too.
 *
 * @module
 */

let eager = false;

/** Bodies come whole from now on. For runtime entries, once at start. */
export function expectEagerBodies(): void {
  eager = true;
}

export function areBodiesEager(): boolean {
  return eager;
}
