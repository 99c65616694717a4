/**
 * A slice of a measurement: the calls that a process runs, and their result.
 *
 * @module
 */

/** A command to call a handler for some time. */
export interface Slice {
  /** The index in `OPERATIONS`. */
  readonly operation: number;
  readonly tools: number;
  readonly accept: string | undefined;
  readonly latest: string | undefined;
  readonly isFloor: boolean;
  readonly milliseconds: number;
}
/** The result of a slice, or why the server does not support the operation. */
export type SliceResult = {
  readonly perSecond: number;
  /** Microseconds of processor time of one call. */
  readonly cpu: number;
  /** Duration of each call, in milliseconds. */
  readonly times: readonly number[];
} | { readonly unsupported: string };
