/**
 * The secrets of a server while they are rotated: one signs and seals, and what earlier ones signed and sealed is still
 * accepted.
 *
 * @module
 */

/** The secrets of a server, the same on every instance. */
export interface ServerSecrets {
  /** Signs and seals. */
  readonly current: Uint8Array;
  /** What these signed or sealed is accepted. The current one comes first. */
  readonly accepted: readonly Uint8Array[];
  /** The first one of the server, which no rotation changes: for identifiers that must stay the same. */
  readonly first: Uint8Array;
}

/** Finds the secrets. Gives a promise only when they must be read; the same bytes are the same `Uint8Array`. */
export type FindSecrets = () => ServerSecrets | Promise<ServerSecrets>;

/** The secrets of a server that never rotated its secret. */
export function soleSecret(secret: Uint8Array): ServerSecrets {
  return { current: secret, accepted: [secret], first: secret };
}
