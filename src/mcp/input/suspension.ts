/**
 * How a run ends that needs responses of the client.
 *
 * @module
 */

/** Ends a run that needs responses of the client. The result of a handler that catches it is ignored. */
export class Suspension extends Error {
  override readonly name = "Suspension";
  constructor() {
    super("The call is suspended until the client answers, and then runs again");
  }
}
